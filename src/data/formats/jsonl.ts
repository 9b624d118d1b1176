/**
 * Reads JSONL with one row per line. Either every line is a row of the same entity, or every line is `{"entity": …,
 * "row": {…}}`; the first line decides which. Blank lines are skipped.
 */
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import {
  createBatch,
  type FoundBatch,
  formatLimits,
  isEmpty,
  isFull,
  unreadable,
} from './found.ts';
import { readRowText } from './row-text.ts';

type Line = { text: string; at: number };

/** Splits the stream into lines; yields one list of lines for each piece of the stream. */
async function* linesOf(name: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let at = 1;
  const hold = (bytes: Buffer): void => {
    restBytes += bytes.length;
    if (restBytes > formatLimits.rowBytes) {
      throw unreadable(
        name,
        at,
        `is longer than ${formatLimits.rowBytes} bytes, the maximum for a row`,
      );
    }
    if (bytes.length > 0) rest.push(bytes);
  };
  for await (const piece of pieces) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, start)) {
      hold(piece.subarray(start, end));
      const text = (rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest)).toString('utf8');
      lines.push({ text, at });
      rest = [];
      restBytes = 0;
      at += 1;
      start = end + 1;
    }
    hold(piece.subarray(start));
    yield lines;
  }
  if (restBytes > 0) yield [{ text: Buffer.concat(rest).toString('utf8'), at }];
}

/** Returns true if a line names the entity of its row. */
const isKeyed = (value: Row): value is { entity: string; row: Row } =>
  typeof value.entity === 'string' && isObject(value.row) && Object.keys(value).length === 2;

export type LineOptions = {
  /** True if lines may name their entities. */
  mayName: boolean;
  /** Returns the entity of rows that name no entity; throws if it is unknown. */
  bareEntity(): string;
};

/** Reads the rows of a JSONL text. */
export async function* readLines(
  name: string,
  pieces: AsyncIterable<Buffer>,
  { mayName, bareEntity }: LineOptions,
): AsyncGenerator<FoundBatch> {
  let batch = createBatch();
  let named: boolean | undefined;
  let entity = '';
  const add = ({ text, at }: Line): void => {
    const read = readRowText(text);
    if (!('row' in read)) {
      batch.faults.push({ at, entity, ...read });
      return;
    }
    named ??= mayName && isKeyed(read.row);
    if (!named) {
      entity ||= bareEntity();
      batch.rows.push({ at, entity, row: read.row });
    } else if (isKeyed(read.row))
      batch.rows.push({ at, entity: read.row.entity, row: read.row.row });
    else {
      const detail = 'is not {"entity": …, "row": {…}}, as the lines before it are';
      batch.faults.push({ at, entity: '', field: null, detail });
    }
  };
  for await (const lines of linesOf(name, pieces)) {
    for (const line of lines) {
      if (line.text.trim() !== '') add(line);
      if (!isFull(batch)) continue;
      yield batch;
      batch = createBatch();
    }
  }
  if (!isEmpty(batch)) yield batch;
}
