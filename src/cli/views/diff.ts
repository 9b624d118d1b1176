/** Formats differences of trees for a person: files with their lines, entities with their fields, rows. */
import type { EntityChange, TreeComparison } from '../files/compare-trees.ts';
import type { Colors } from '../terminal/context.ts';

/** Colours a line of a unified diff. */
export const colorLine = (line: string, colors: Colors): string => {
  if (line.startsWith('@@')) return colors.cyan(line);
  if (line.startsWith('+++') || line.startsWith('---')) return colors.bold(line);
  if (line.startsWith('+')) return colors.green(line);
  return line.startsWith('-') ? colors.red(line) : line;
};

const linesOf = (
  names: { added: readonly string[]; changed: readonly string[]; removed: readonly string[] },
  colors: Colors,
  indent = '  ',
): string[] => [
  ...names.added.map((name) => colors.green(`${indent}+ ${name}`)),
  ...names.changed.map((name) => `${indent}~ ${name}`),
  ...names.removed.map((name) => colors.red(`${indent}- ${name}`)),
];

const entityLines = ({ name, keys, fields }: EntityChange, colors: Colors): string[] => [
  `  ~ ${name}${keys ? ' (keys differ)' : ''}`,
  ...linesOf(fields, colors, '      '),
];

const section = (title: string, lines: readonly string[], colors: Colors): string[] =>
  lines.length === 0 ? [] : [colors.bold(title), ...lines];

/** Formats the differences, with the lines of files that have a diff in `diffs`. */
export const describeDiff = (
  { from, to, files, entities, rows }: TreeComparison,
  diffs: Readonly<Record<string, string | null>>,
  colors: Colors,
): string => {
  const rowLines = Object.entries(rows).map(
    ([entity, { before, after }]) => `  ${entity} ${before} to ${after}`,
  );
  const fileLines = linesOf(files, colors);
  const contractLines = [
    ...linesOf({ added: entities.added, changed: [], removed: entities.removed }, colors),
    ...entities.changed.flatMap((change) => entityLines(change, colors)),
  ];
  const texts = Object.values(diffs)
    .filter((text) => text !== null && text !== '')
    .flatMap((text) => (text ?? '').trimEnd().split('\n'))
    .map((line) => colorLine(line, colors));
  if (fileLines.length + contractLines.length + rowLines.length === 0) {
    return `${from} and ${to} are equal`;
  }
  return [
    `${from} to ${to}`,
    ...section('files', fileLines, colors),
    ...section('entities', contractLines, colors),
    ...section('rows', rowLines, colors),
    ...(texts.length === 0 ? [] : ['', ...texts]),
  ].join('\n');
};
