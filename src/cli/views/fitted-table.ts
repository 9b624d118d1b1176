/**
 * Formats lists as tables with a header. Each entry takes one line if the terminal is wide enough, or else several.
 * Every list of a command uses it. Texts without a header use `formatTable`.
 */
import { stripVTControlCharacters } from 'node:util';
import { makeVisible } from '#domain/visible-text.ts';
import { betweenColors } from '../terminal/colors.ts';
import type { View } from '../terminal/context.ts';
import { cut, formatTable, widthOf, wrapLines } from '../terminal/print.ts';

export type Cells = readonly string[];

/** Columns that may be left out or cut if a table is too wide. */
export type Fitting = {
  /** Text in place of a table without lines. */
  none?: string;
  /** Columns to leave out, in this order. */
  leftOut?: readonly string[];
  /** Columns to cut once others are left out, in this order; their cells must not contain colours. */
  cut?: readonly string[];
};

/** Cells of a table with the titles of its columns. */
export type Table = { head: Cells; lines: readonly Cells[] };

/** Minimum number of columns to which a cell is cut. */
const leastCut = 16;

const says = (cell = ''): boolean => !['', '-'].includes(stripVTControlCharacters(cell));

const pick = ({ head, lines }: Table, columns: readonly number[]): Table => {
  const of = (cells: Cells): string[] => columns.map((column) => cells[column] ?? '');
  return { head: of(head), lines: lines.map(of) };
};

/** Leaves out columns that are empty in all entries, except the first column. */
const withoutSilent = (table: Table): Table =>
  pick(
    table,
    [...table.head.keys()].filter(
      (column) => column === 0 || table.lines.some((cells) => says(cells[column])),
    ),
  );

const without = (table: Table, title: string): Table =>
  pick(
    table,
    [...table.head.keys()].filter((column) => table.head[column] !== title),
  );

/** Returns the number of columns by which a table is too wide; 0 or less if it fits. */
export const excessOf = ({ head, lines }: Table, columns: number): number =>
  widthOf(formatTable([head, ...lines])) - columns;

/** Cuts the cells of a column by the number of columns by which the table is too wide. */
export const cutColumn = (table: Table, title: string, columns: number): Table => {
  const column = table.head.indexOf(title);
  const excess = excessOf(table, columns);
  if (column < 0 || excess <= 0) return table;
  const whole = table.lines.map((cells) => makeVisible(cells[column] ?? ''));
  const widest = widthOf(whole.join('\n'));
  const most = Math.max(leastCut, widest - excess);
  const lines = table.lines.map((cells, line) => cells.with(column, cut(whole[line] ?? '', most)));
  return { head: table.head, lines };
};

/** Leaves out columns until the table fits, then cuts others. */
const narrow = (
  table: Table,
  { leftOut = [], cut: titles = [] }: Fitting,
  columns: number,
): Table => {
  const fewer = leftOut.reduce(
    (left, title) => (excessOf(left, columns) > 0 ? without(left, title) : left),
    table,
  );
  return titles.reduce((left, title) => cutColumn(left, title, columns), fewer);
};

const indent = '  ';
const between = ' · ';

/** Packs fields into lines, several on a line. Only a field that is wider than a line is wrapped. */
const packFields = (fields: readonly string[], columns: number): string[] => {
  const lines: string[] = [];
  for (const field of fields) {
    const joined = `${lines.at(-1)}${between}${field}`;
    if (lines.length > 0 && widthOf(joined) <= columns) lines.splice(-1, 1, joined);
    else lines.push(...wrapLines(field, columns));
  }
  return lines;
};

/**
 * Formats an entry on several lines: its first cell, and below it the other cells that are not empty, each with its
 * title.
 */
export const formatBlock = (
  head: Cells,
  [first = '', ...cells]: Cells,
  { colors, columns }: View,
): string => {
  const fields = cells.flatMap((cell, index) =>
    says(cell)
      ? [`${colors.dim((head[index + 1] ?? '').toLowerCase())} ${betweenColors(cell, makeVisible)}`]
      : [],
  );
  const lines = packFields(fields, columns - indent.length);
  const name = /^\d+$/.test(first) ? `${head[0]?.toLowerCase()} ${first}` : first;
  const title = name === '' ? [] : wrapLines(betweenColors(name, makeVisible), columns);
  return [...title.map(colors.bold), ...lines.map((line) => `${indent}${line}`)].join('\n');
};

/**
 * Formats a table with its header. A column in which every cell is empty or `-` is left out. If the table is too wide,
 * columns are left out or cut as `fitting` says. If it is still too wide, each entry becomes a block of lines with all
 * its cells.
 */
export const formatFitted = (
  head: Cells,
  lines: readonly Cells[],
  view: View,
  fitting: Fitting = {},
): string => {
  if (lines.length === 0 && fitting.none !== undefined) return fitting.none;
  const whole = withoutSilent({ head, lines });
  const table = narrow(whole, fitting, view.columns);
  return excessOf(table, view.columns) <= 0
    ? formatTable([table.head.map((title) => title && view.colors.dim(title)), ...table.lines])
    : whole.lines.map((cells) => formatBlock(whole.head, cells, view)).join('\n');
};
