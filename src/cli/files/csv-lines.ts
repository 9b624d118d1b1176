/**
 * Rows as lines of CSV that are read back as the rows that they were, as far as cells can say it: what a cell means
 * is up to its field (`#data/formats/cell.ts`), and values that would come back otherwise are counted.
 */
import { isDeepStrictEqual } from 'node:util';
import { absent, readCell } from '#data/formats/cell.ts';
import type { Column } from '#data/formats/table-columns.ts';
import type { Row } from '#language/contract.ts';

const quoted = /[",\r\n]|^\s|\s$/;

const quote = (text: string): string =>
  quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

const cellOf = (value: unknown, { types, required }: Column): string => {
  if (typeof value === 'string') return value;
  if (value === undefined || (value === null && (types.has('string') || required))) return '';
  return JSON.stringify(value);
};

/** The head line, and what makes a line of a row; both end with a line break. */
export const createCsvLines = (
  columns: readonly Column[],
  losses: { values: number },
): { head: string; line(row: Row): string } => {
  const write = (row: Row, column: Column): string => {
    const value = Object.hasOwn(row, column.name) ? row[column.name] : undefined;
    const cell = cellOf(value, column);
    const again = readCell(cell, column);
    if (!isDeepStrictEqual(again === absent ? undefined : again, value)) losses.values += 1;
    return quote(cell);
  };
  // A line of one empty cell would be an empty line, which is none.
  const join = (cells: string[]): string =>
    `${cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')}\n`;
  return {
    head: join(columns.map(({ name }) => quote(name))),
    line: (row) => join(columns.map((column) => write(row, column))),
  };
};
