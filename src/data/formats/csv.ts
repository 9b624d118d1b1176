/**
 * Reads CSV as RFC 4180 defines it, with field names in the first line, quotes, and line breaks within quotes. The
 * delimiter is detected from the first line: comma, semicolon, tab or vertical bar. The fields of the entity give the
 * cells their types.
 */
import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import type { Row } from '#language/contract.ts';
import { absent, readCell } from './cell.ts';
import {
  createBatch,
  type FoundBatch,
  formatLimits,
  isEmpty,
  isFull,
  startingWith,
  unreadable,
} from './found.ts';
import { type Column, readColumns, type TableOptions } from './table-columns.ts';

type CsvOptions = TableOptions;

const delimiters = [',', ';', '\t', '|'] as const;

/** Returns the delimiter that occurs most often in the first line. */
const delimiterOf = (text: string): string => {
  const [line = ''] = text.replaceAll(/"[^"]*"/g, '').split(/\r?\n|\r/, 1);
  const counts = delimiters.map((delimiter) => line.split(delimiter).length - 1);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
};

const headBytes = 64 * 1024;

/** Reads the beginning of a text, with its first line if that is not too long. */
const readHead = async (pieces: AsyncGenerator<Buffer>): Promise<Buffer> => {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < headBytes && !head.includes('\n')) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  return head;
};

const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened, and the file ends before the quote is closed',
  CSV_INVALID_CLOSING_QUOTE:
    'after a closing quote there must be a delimiter or the end of the line; write a quote within a text twice',
  INVALID_OPENING_QUOTE:
    'a quote is within a text that is not quoted; put the text in quotes, and write the quote twice',
  CSV_MAX_RECORD_SIZE: `a record is longer than ${formatLimits.rowBytes} bytes; perhaps a closing quote is missing`,
};

const asFault = (file: string, error: unknown): unknown => {
  if (!(error instanceof CsvError)) return error;
  const lines = (error as unknown as { lines?: unknown }).lines;
  const what = faults[error.code] ?? error.message;
  return unreadable(file, typeof lines === 'number' ? lines : undefined, what);
};

type CsvRecord = { record: string[]; info: Info };

const countBreaks = (cells: readonly string[]): number =>
  cells.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0);

const rowOf = (cells: readonly string[], columns: readonly Column[]): Row =>
  Object.fromEntries(
    columns
      .map((column, index): [string, unknown] => [
        column.name,
        readCell(cells[index] ?? '', column),
      ])
      .filter(([, value]) => value !== absent),
  );

/** Reads the rows of a table. */
export async function* readCsv(
  name: string,
  pieces: AsyncGenerator<Buffer>,
  { contract, entity, otherColumns }: CsvOptions,
): AsyncGenerator<FoundBatch> {
  const first = await readHead(pieces);
  if (first.length === 0)
    throw unreadable(name, undefined, 'is empty; its first line should name the fields');
  const parser = parse({
    delimiter: delimiterOf(first.toString('utf8')),
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: formatLimits.rowBytes,
  });
  const source = Readable.from(startingWith(first, pieces), { objectMode: false });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let columns: Column[] | undefined;
  let endedAt = 0;
  let batch = createBatch();
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      const at = info.lines > endedAt + 1 ? info.lines - countBreaks(record) : info.lines;
      endedAt = info.lines;
      if (columns === undefined) {
        const names = record.map((cell) => cell.trim());
        columns = readColumns(name, names, { contract, entity, otherColumns });
      } else if (record.length === columns.length) {
        batch.rows.push({ at, entity, row: rowOf(record, columns) });
      } else {
        const detail = `has ${record.length} values, but the first line names ${columns.length} fields`;
        batch.faults.push({ at, entity, field: null, detail });
      }
      if (!isFull(batch)) continue;
      yield batch;
      batch = createBatch();
    }
  } catch (error) {
    throw asFault(name, error);
  } finally {
    source.destroy();
    parser.destroy();
  }
  if (columns === undefined)
    throw unreadable(name, undefined, 'is empty; its first line should name the fields');
  if (!isEmpty(batch)) yield batch;
}
