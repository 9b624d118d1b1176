/**
 * Builds the text of `charts/svc/README.md`: every value of the chart with its default and meaning, from
 * `values.schema.json` and `values.yaml`, and the settings of each program.
 */
import {
  defaultValues,
  type Leaf,
  leavesOf,
  type ValueSchema,
  valuesSchema,
} from '../../test/support/orchestrator/chart.ts';

const intro = `\
# The chart svc

<!-- Made by \`make docs\` from values.schema.json and values.yaml: edit those. -->

This page is for operators who install \`svc\` on a Kubernetes cluster with this chart. It lists every value.
[docs/operate/install.md](../../docs/operate/install.md) says how to install it, and what to decide first. Helm refuses
values that \`values.schema.json\` does not know. Complete examples are in [ci/](ci).
`;

const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

const shown = (value: unknown): string => {
  if (value === '' || JSON.stringify(value) === '{}' || JSON.stringify(value) === '[]') return '';
  if (typeof value === 'string') return value.includes('\n') ? 'see values.yaml' : `\`${value}\``;
  return `\`${JSON.stringify(value)}\``;
};

const choices = ({ enum: names = [] }: ValueSchema): string =>
  names.length === 0 ? '' : ` (${names.filter(Boolean).join(', ')})`;

const rowOf = ({ path, schema, value }: Leaf): string =>
  `| \`${path}\` | ${cell(shown(value))} | ${cell(`${schema.description?.replace(/\.$/, '')}${choices(schema)}`)} |`;

const settingsOf = ({ path, schema }: Leaf): string[] => {
  const settings = Object.entries(schema.properties ?? {});
  if (settings.length === 0) return [];
  const rows = settings.map(
    ([name, { description = '' }]) => `| \`${name}\` | ${cell(description.replace(/\.$/, ''))} |`,
  );
  return [
    '',
    `What \`${path}\` takes, as text:`,
    '',
    '| Variable | Meaning |',
    '| - | - |',
    ...rows,
  ];
};

const chapterOf = (name: string, leaves: readonly Leaf[]): string[] => [
  '',
  `## ${name}`,
  '',
  `${valuesSchema.properties?.[name]?.description ?? ''}`,
  '',
  '| Value | Default | Meaning |',
  '| - | - | - |',
  ...leaves.map(rowOf),
  ...leaves.flatMap(settingsOf),
];

/** Returns the text of the page. */
export const chartPage = (): string => {
  const leaves = leavesOf(valuesSchema, defaultValues);
  const tables = Object.keys(valuesSchema.properties ?? {}).filter((name) =>
    leaves.some(({ path }) => path.startsWith(`${name}.`)),
  );
  const alone = leaves.filter(({ path }) => !path.includes('.'));
  const lines = [
    '| Value | Default | Meaning |',
    '| - | - | - |',
    ...alone.map(rowOf),
    ...tables.flatMap((name) =>
      chapterOf(
        name,
        leaves.filter(({ path }) => path.startsWith(`${name}.`)),
      ),
    ),
  ];
  return `${intro}\n${lines.join('\n')}\n`;
};
