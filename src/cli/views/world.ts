/** Formats worlds, templates and compiled contracts for a person. */
import type { Static } from 'typebox';
import { describeContract } from '#language/artifacts/describe.ts';
import type { Contract, ToolBinding } from '#language/contract.ts';
import type { EntityView } from '#wire/public-api/worlds/runtime.ts';
import type {
  TemplateView,
  WorldDetail,
  WorldListView,
  WorldView,
} from '#wire/public-api/worlds/world.ts';
import type { View } from '../terminal/context.ts';
import {
  cutLine,
  formatAgo,
  formatCount,
  formatFields,
  formatTable,
  wrapLines,
} from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';
import { warningLines } from './warnings.ts';

const list = (words: readonly string[]): string => (words.length === 0 ? '-' : words.join(', '));

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

const countText = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([entity, count]) => `${entity} ${count}`)
    .join(', ');

type Facts = [name: string, value: string | null | undefined][];

const factsOf = (world: WorldDetail, policy: Facts[number]): Facts => [
  ['world', world.slug],
  ['path', world.path],
  ['name', world.name],
  ['description', world.description],
  ['kind', world.kind],
  ['version', `${world.version.number} (${world.version.id})`],
  ['message', world.version.message],
  ['content', world.version.contentHash],
  ['rows', countText(world.version.entityCounts)],
  ['surfaces', list(world.surfaces)],
  ['tools', list(world.tools)],
  ['tasks', list(world.tasks)],
  policy,
  ['files', formatCount(world.files.length, 'file')],
  ['created', `${world.createdAt} (${formatAgo(world.createdAt)})`],
];

/** Formats the fields that [redact] names, whether or not any rows have values in them. */
const policyOf = ({ redact }: WorldView): string | undefined => {
  if (redact === null) return undefined;
  const marks = [
    ...redact.hash.map((path) => `${path} [hash]`),
    ...redact.drop.map((path) => `${path} [drop]`),
    ...redact.preserve.map((path) => `${path} [preserve]`),
    ...Object.entries(redact.round).map(([path, digits]) => `${path} [round:${digits}]`),
  ];
  return `${list(marks)}; salt ${redact.slug}`;
};

/** Formats one world with its head version, followed by its probable mistakes. */
export const describeWorld = (world: WorldDetail, view: View): string => {
  const facts = formatFields(factsOf(world, ['policy', policyOf(world)]));
  return [facts, ...warningLines(world.warnings, view)].join('\n');
};

/** Formats one world with its entities. Their fields are marked with their redaction. */
export const describeWholeWorld = (
  world: WorldDetail,
  entities: readonly EntityView[],
  view: View,
): string => {
  const { colors } = view;
  const { entityCounts } = world.version;
  const lines = entities.flatMap((entity) =>
    entityLines(entity, entityCounts[entity.name] ?? 0, view),
  );
  const facts = formatFields(factsOf(world, ['salt', world.redact?.slug]));
  const warnings = warningLines(world.warnings, view);
  return [facts, ...warnings, '', colors.bold('entities'), ...lines.slice(1)].join('\n');
};

/** Formats the worlds of a project, one a line. */
export const listWorlds = (worlds: readonly WorldListView[], view: View): string =>
  formatFitted(
    ['WORLD', 'NAME', 'VERSION', 'ROWS', 'TOOLS', 'TASKS', 'CREATED', 'PATH'],
    worlds.map((world) => [
      world.slug,
      world.name,
      String(world.version.number),
      String(sum(world.version.entityCounts)),
      String(world.toolCount),
      String(world.taskCount),
      formatAgo(world.createdAt),
      world.path,
    ]),
    view,
    {
      none: 'no worlds yet: svc worlds create <slug> --from <template>',
      leftOut: ['PATH'],
      cut: ['NAME'],
    },
  );

/** Returns the first sentence of a template's description. */
export const firstSentence = (description: string): string =>
  cutLine(description.split(/(?<=\.)\s/, 1)[0] ?? '');

/** Formats the templates of a service, one a line. */
export const listTemplates = (
  templates: readonly Static<typeof TemplateView>[],
  view: View,
): string =>
  formatFitted(
    ['TEMPLATE', 'NAME', 'DESCRIPTION'],
    templates.map(({ slug, name, description }) => [slug, name, firstSentence(description)]),
    view,
  );

const bindingText = (binding: ToolBinding): string => {
  switch (binding.kind) {
    case 'python':
    case 'typescript':
      return `${binding.function} in ${binding.file}`;
    case 'operation':
      return `route ${binding.operation}`;
    case 'convention':
      return `convention: ${binding.verb} ${binding.entity}`;
  }
};

const keysText = (entity: EntityView): string => {
  const unique = entity.unique.map((paths) => paths.join('+'));
  const links = entity.relationships.map(({ fields, target }) => `${fields.join('+')} → ${target}`);
  return [
    `key ${entity.primaryKey.join('+')}`,
    ...unique.map((text) => `unique ${text}`),
    ...links,
  ].join('; ');
};

const indent = '  ';

const indented = (text: string, by = indent): string[] =>
  text.split('\n').map((line) => `${by}${line}`);

/** Formats a list with a title; returns nothing for an empty list. */
const section = (
  title: string,
  { head, lines }: { head: string[]; lines: string[][] },
  { colors, columns }: View,
): string[] => {
  if (lines.length === 0) return [];
  const table = formatFitted(head, lines, { colors, columns: columns - indent.length });
  return ['', colors.bold(title), ...indented(table)];
};

const linksText = ({ dependencies }: Contract): string | undefined =>
  dependencies.length === 0
    ? undefined
    : dependencies.map(({ alias, slug, ref }) => `${alias} = ${slug}@${ref}`).join(', ');

/** Formats a field's redaction, `[hash]` or `[round:2]`; '' for a field that is not redacted. */
const policyText = (policy: string | null): string => (policy === null ? '' : `[${policy}]`);

/** Formats the types of a value, null last: `string | null`. */
const typesText = (types: readonly string[]): string =>
  types.toSorted((a, b) => Number(a === 'null') - Number(b === 'null')).join(' | ');

/** Formats the entity's keys, and its fields with their types and redaction. */
const entityLines = (entity: EntityView, rows: number, { colors, columns }: View): string[] => {
  const table = formatTable(
    entity.fields.map(({ path, types, required, policy }) => [
      `    ${required ? path : `${path}?`}`,
      typesText(types),
      colors.yellow(policyText(policy)),
    ]),
  );
  const about = `${formatCount(rows, 'row')}; ${keysText(entity)}`;
  const [title = '', ...more] = wrapLines(
    `${colors.bold(entity.name)}  ${about}`,
    columns - 2 * indent.length,
  );
  return [
    ...['', `${indent}${title}`, ...more.map((line) => `${indent}${indent}${line}`)],
    ...(table === '' ? [] : [table]),
  ];
};

const toolsOf = ({ tools }: Contract) => ({
  head: ['TOOL', 'DOES'],
  lines: tools.map((tool) => [tool.name, bindingText(tool.binding)]),
});

const routesOf = ({ api }: Contract) => ({
  head: ['ROUTE', 'OPERATION', 'ACTION'],
  lines: (api?.routes ?? []).map(({ method, path, operation, action }) => [
    ...[`${method} ${path}`, operation, action],
  ]),
});

const tasksOf = ({ tasks }: Contract) => ({
  head: ['TASK', 'INSTRUCTION', 'TOOLS'],
  lines: tasks.map(({ name, instruction, tools }) => [
    ...[name, cutLine(instruction ?? '')],
    tools === null ? '' : tools.join(', ') || 'none',
  ]),
});

/** Formats the contract that the files of a world compile to. */
export const viewContract = (
  contract: Contract,
  rowCounts: Record<string, number>,
  view: View,
): string => {
  const described = describeContract(contract);
  const entities = described.entities.flatMap((entity) =>
    entityLines(entity, rowCounts[entity.name] ?? 0, view),
  );
  return [
    formatFields([
      ['name', contract.name],
      ['package', `${contract.package.id} ${contract.package.version}`],
      ['language', contract.language],
      ['salt', described.redactSalt],
      ['links', linksText(contract)],
    ]),
    '',
    view.colors.bold('entities'),
    ...entities.slice(1),
    ...section('tools', toolsOf(contract), view),
    ...section('routes', routesOf(contract), view),
    ...section('tasks', tasksOf(contract), view),
  ].join('\n');
};
