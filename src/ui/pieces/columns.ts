/** Chooses the columns of a list, their order and their widths. */
import { fieldOf, type PageEntity, type PageField, targetOf } from '../world/model.ts';

/** Maximum number of columns of a list. The page of each row also shows the other fields. */
const mostColumns = 16;

const rank = (entity: PageEntity, { name, kind, format }: PageField): number => {
  if (name === entity.title) return 0;
  if (entity.key.includes(name)) return 1 + entity.key.indexOf(name) / 100;
  if (kind === 'choice') return 2;
  if (targetOf(entity, name) !== undefined || format === 'time') return 3;
  if (kind === 'boolean') return 5;
  if (format === 'url' || /^(body|description|content)$/.test(name)) return 6;
  return kind === 'json' ? 7 : 4;
};

export const columnsOf = (entity: PageEntity): PageField[] =>
  entity.fields
    .map((field, index) => ({ field, order: rank(entity, field) + index / 100_000 }))
    .toSorted((one, other) => one.order - other.order)
    .slice(0, mostColumns)
    .map(({ field }) => field);

/** Returns the width of a column's title with the sort mark, in pixels. */
const headWidth = ({ label }: PageField): number => Math.min(200, label.length * 7 + 40);

const leastWidth = (entity: PageEntity, field: PageField): number => {
  if (field.name === entity.title) return 300;
  if (field.kind === 'boolean') return 80;
  if (field.format === 'time') return 150;
  if (targetOf(entity, field.name) !== undefined) return 150;
  if (field.kind === 'integer' || field.kind === 'number') return 100;
  if (field.kind === 'choice') return 120;
  return entity.key.includes(field.name) ? 130 : 150;
};

/**
 * Returns a column's share of the remaining width: the largest for the title, a large one for other texts, a small one
 * for short values.
 */
const shareOf = (entity: PageEntity, { name, kind, format }: PageField): number => {
  if (name === entity.title) return 4;
  return kind === 'text' && format === undefined && !entity.key.includes(name) ? 3 : 1;
};

const widthOf = (entity: PageEntity, field: PageField): string => {
  const width = Math.max(leastWidth(entity, field), headWidth(field));
  // On a narrow screen the title leaves space for another column.
  const least = field.name === entity.title ? `min(${width}px, 60vw)` : `${width}px`;
  return `minmax(${least}, ${shareOf(entity, field)}fr)`;
};

/** Returns the value of `grid-template-columns`. */
export const templateOf = (entity: PageEntity, columns: readonly PageField[]): string =>
  columns.map((field) => widthOf(entity, field)).join(' ');

const pixels = (width: string): number => Number(/\d+/.exec(width)?.[0] ?? 0);

/** Returns the minimum width of all columns together, in pixels. */
export const widthOfAll = (entity: PageEntity, columns: readonly PageField[]): number =>
  columns.reduce((sum, field) => sum + pixels(widthOf(entity, field)), 0);

/** Returns true if a column can be sorted. Lists and objects have no order. */
export const isSortable = ({ kind, of }: PageField): boolean => kind !== 'json' || of === undefined;

export const titleField = (entity: PageEntity): PageField | undefined =>
  entity.title === null ? undefined : fieldOf(entity, entity.title);
