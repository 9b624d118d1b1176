/** Formats rows of worlds for a person: counts, pages of rows, groups of linked worlds and their differences. */
import type {
  CountsView,
  GroupsView,
  ParityView,
  RowsMeta,
} from '#wire/public-api/worlds/data-read.ts';
import type { Static } from '#wire/type.ts';
import type { Colors, View } from '../terminal/context.ts';
import { cutLine, formatCount, formatRows } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

type Row = Record<string, unknown>;

const numberText = (value: number | null): string =>
  value === null ? '-' : value.toLocaleString('en-US');

/** Formats the entities of a world with the number of rows of each. */
export const describeCounts = (
  { slug, number, entityCounts }: Static<typeof CountsView>,
  view: View,
): string => {
  const total = Object.values(entityCounts).reduce((sum, count) => sum + count, 0);
  const lines = Object.entries(entityCounts).map(([entity, count]) => [entity, numberText(count)]);
  const table = formatFitted(['ENTITY', 'ROWS'], lines, view);
  return `${table}\n${formatCount(total, 'row')} in version ${number} of ${slug}`;
};

/** Formats the range of rows on a page, and how to show the next page. */
const pageText = ({ offset, totalItems, nextOffset, ...meta }: RowsMeta, shown: number): string => {
  const orMore = meta.totalItemsIsLowerBound === true ? ' or more' : '';
  if (shown === 0)
    return offset === 0 ? 'no rows match' : `there are no rows at offset ${offset} or after it`;
  const range = shown === 1 ? `row ${offset + 1}` : `rows ${offset + 1} to ${offset + shown}`;
  const of = `${range} of ${numberText(totalItems)}${orMore}`;
  return nextOffset === null ? of : `${of}; --offset ${nextOffset} shows the next page`;
};

/** Formats rows as a table, with the range of the page. */
export const describeRows = (
  { data, meta }: { data: readonly Row[]; meta: RowsMeta },
  { columns }: View,
): string => {
  const page = pageText(meta, data.length);
  return data.length === 0 ? page : `${formatRows(data, { columns })}\n${page}`;
};

const shownChars = 40;
const shownValue = (value: unknown): string =>
  value === null ? 'nothing' : cutLine(JSON.stringify(value) ?? '', shownChars);

const describeField = (
  { field, targetField, reason, examples, ...counts }: ParityView['fields'][number],
  colors: Colors,
): string[] => {
  const name = field === targetField ? field : `${field} = ${targetField}`;
  if (reason !== undefined) return [`  ${name}: not compared: ${reason}`];
  const texts = [
    `${numberText(counts.equal)} equal`,
    `${numberText(counts.differing)} differing`,
    `${numberText(counts.onlyHere)} only here`,
    `${numberText(counts.onlyThere)} only there`,
  ];
  return [
    `  ${name}: ${texts.join(', ')}`,
    ...examples.map(({ key, here, there }) =>
      colors.dim(`    ${shownValue(key)}: ${shownValue(here)} here, ${shownValue(there)} there`),
    ),
  ];
};

const describeParity = (parity: ParityView, colors: Colors): string => {
  const { entity, slug, number, targetEntity, key, rows } = parity;
  const title = `${entity} here and ${targetEntity} of ${slug}@${number}`;
  if (key === null) {
    const fields = parity.fields.flatMap((field) => describeField(field, colors));
    return [`${colors.bold(title)}: no field shows which rows correspond`, ...fields].join('\n');
  }
  const by = key.field === key.targetField ? key.field : `${key.field} = ${key.targetField}`;
  return [
    `${colors.bold(title)}, by ${by}: ${numberText(rows.matched)} in both, ${numberText(rows.onlyHere)} only here, ${numberText(rows.onlyThere)} only there`,
    ...parity.fields.flatMap((field) => describeField(field, colors)),
  ].join('\n');
};

/** Formats rows of linked worlds under the name of each world, and then their comparison. */
export const describeGroups = (
  { groups, skipped, compare = [] }: GroupsView,
  view: View,
): string => {
  const { colors } = view;
  const pages = groups.map(({ alias, slug, number, entity, ...page }) => {
    const through = alias === null ? '' : ` (linked as ${alias})`;
    const title = colors.bold(`${entity} of ${slug}@${number}`);
    return `${title}${through}\n${describeRows(page, view)}`;
  });
  const left = skipped.map(({ alias, slug, reason }) =>
    colors.dim(`${slug} (linked as ${alias}) was not searched: ${reason}`),
  );
  const parities = compare.map((parity) => describeParity(parity, colors));
  return [...pages, ...(left.length === 0 ? [] : [left.join('\n')]), ...parities].join('\n\n');
};
