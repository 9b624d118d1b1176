/**
 * Formats texts for people: aligned tables and fields, durations, counts of changes. Every function returns a text,
 * which its caller writes. Colours do not count as width.
 */
import { stripVTControlCharacters } from 'node:util';
import { Help } from 'commander';
import stringWidth from 'string-width';
import type { ChangeCounts } from '#domain/call.ts';
import { makeVisible } from '#domain/visible-text.ts';
import { betweenColors } from './colors.ts';

/** Returns the columns that a text takes: two for a wide character, none for colours. */
const width = (text: string): number => stringWidth(stripVTControlCharacters(text));

const pad = (text: string, to: number): string => text + ' '.repeat(Math.max(0, to - width(text)));

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a text to `to` columns; a text that was cut ends with `…`. */
export const cut = (text: string, to: number): string => {
  if (text.length <= to / 2) return text;
  let columns = 0;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    columns += stringWidth(segment);
    if (columns > to) return `${text.slice(0, end)}…`;
    if (columns < to) end = index + segment.length;
  }
  return text;
};

/** Maximum number of columns of a text in a list, so that a long text does not fill the list. */
const mostTextColumns = 200;

/** Puts a text on one line, and cuts it to the maximum width in a list. */
export const cutLine = (text: string, to: number = mostTextColumns): string =>
  cut(makeVisible(text.replace(/\s+/g, ' ').trim()), to);

/** Wraps texts as commander's help does. It measures them by `width`, so that colours take no columns. */
class Wrapping extends Help {
  override displayWidth(text: string): number {
    return width(text);
  }
}

/**
 * Wraps a text at spaces to lines of at most `columns` columns. If there are fewer than 40 columns, the text is not
 * wrapped.
 */
export const wrapLines = (text: string, columns: number): string[] =>
  new Wrapping().boxWrap(text, columns).split('\n');

/** Returns the columns of the widest line. */
export const widthOf = (text: string): number => Math.max(...text.split('\n').map(width));

/**
 * Formats cells as aligned lines: left-aligned, two spaces apart, without trailing spaces. Lists with a header use
 * `formatFitted` of the views, which also fits the terminal.
 */
export const formatTable = (given: readonly (readonly string[])[]): string => {
  const lines = given.map((cells) => cells.map((cell) => betweenColors(cell, makeVisible)));
  const columns = Math.max(0, ...lines.map((cells) => cells.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((cells) => width(cells[column] ?? ''))),
  );
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** Formats `name  value` lines. Fields with an undefined or null value are left out. */
export const formatFields = (fields: readonly (readonly [string, unknown])[]): string =>
  formatTable(
    fields
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, String(value)]),
  );

/** Formats a duration: `0.4 ms`, `37 ms`, `1.2 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. */
export const formatDuration = (ms: number): string => {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
};

/** Formats how long ago a time of the API was: `4 s ago`, `2 h ago`. */
export const formatAgo = (time: string, nowMs: number = Date.now()): string => {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
};

/** Returns the milliseconds between two times of the API; undefined if a time is missing. */
export const elapsedMs = (from: string | null, to: string | null): number | undefined =>
  from === null || to === null ? undefined : Date.parse(to) - Date.parse(from);

/** Formats counts of changes: `issues: 1 updated; comments: 1 inserted`, or `no rows changed`. */
export const formatChanges = (changes: ChangeCounts): string => {
  const entities = Object.entries(changes).map(([entity, counts]) => {
    const parts = (['inserted', 'updated', 'deleted'] as const)
      .filter((kind) => counts[kind] > 0)
      .map((kind) => `${counts[kind]} ${kind}`);
    return `${entity}: ${parts.join(', ')}`;
  });
  return entities.length === 0 ? 'no rows changed' : entities.join('; ');
};

/** Formats a count: `1 row`, `3 rows`. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** Formats a value as indented JSON, the output of `--json`. */
export const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const cell = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Formats rows as a table with their fields as the header. Cuts long cells, and cuts lines at `columns`. */
export const formatRows = (
  rows: readonly Record<string, unknown>[],
  { columns, cellWidth = 40 }: { columns: number; cellWidth?: number },
): string => {
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = formatTable([
    fields,
    ...rows.map((row) => fields.map((field) => cutLine(cell(row[field]), cellWidth))),
  ]);
  return table
    .split('\n')
    .map((line) => cut(line, columns))
    .join('\n');
};
