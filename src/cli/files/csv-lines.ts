/**
 * Formats rows as CSV lines. If cells can express all values of a row, its line parses back into the same row. The
 * meaning of a cell depends on its field (`#data/formats/cell.ts`). Values that would be parsed differently are counted
 * as losses.
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

/** Returns the header line and a function that formats a row as a line. Both end with a line break. */
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
  // A single empty cell is quoted, because parsers ignore an empty line.
  const join = (cells: string[]): string =>
    `${cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')}\n`;
  return {
    head: join(columns.map(({ name }) => quote(name))),
    line: (row) => join(columns.map((column) => write(row, column))),
  };
};
