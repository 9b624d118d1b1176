/**
 * Reads JSON documents: `[row, …]`, or `{"entity": [row, …], …}`. Rows are cut out of the bytes and parsed one by one,
 * so that a document of any length takes the memory of its longest row.
 */
import {
  createBatch,
  type FoundBatch,
  formatLimits,
  isEmpty,
  isFull,
  unreadable,
} from './found.ts';
import { readRowText } from './row-text.ts';

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const comma = code(',');
const colon = code(':');
const openList = code('[');
const closeList = code(']');
const openObject = code('{');
const closeObject = code('}');
const newline = code('\n');

const isBlank = (byte: number): boolean =>
  byte === 0x20 || byte === newline || byte === 0x0d || byte === 0x09;

/** Syntax that may come next, outside of rows and names. */
type Expected =
  | 'document'
  | 'first row'
  | 'row'
  | 'row end'
  | 'first name'
  | 'name'
  | 'colon'
  | 'list'
  | 'list end'
  | 'nothing';

const words: Readonly<Record<Expected, string>> = {
  document: '[row, …] or {"entity": [row, …]}',
  'first row': 'a row, {…}, or the end of the list',
  row: 'a row, {…}',
  'row end': 'a comma or the end of the list',
  'first name': 'the name of an entity',
  name: 'the name of an entity',
  colon: 'a colon',
  list: 'a list of rows, [row, …]',
  'list end': 'a comma or the end of the document',
  nothing: 'nothing more',
};

/** An incomplete text: a row or a name, its bytes so far, and the state of the scan within it. */
type Part = {
  pieces: Buffer[];
  bytes: number;
  depth: number;
  isString: boolean;
  isEscaped: boolean;
  at: number;
};

type Taken = { kind: 'row'; text: string; at: number; entity: string | undefined };

/** Creates the parser that cuts rows out of a document, piece by piece. */
const createCutter = (name: string) => {
  let expected: Expected = 'document';
  let part: Part | undefined;
  let line = 1;
  let isKeyed = false;
  let entity: string | undefined;
  const seen = new Set<string>();

  const refuse = (what: string): Error => unreadable(name, line, what);
  const refuseByte = (byte: number): Error =>
    refuse(
      `${JSON.stringify(String.fromCharCode(byte))} stands where ${words[expected]} should be`,
    );

  const begin = (at: number, isString: boolean): Part => ({
    pieces: [],
    bytes: 0,
    depth: 0,
    isString,
    isEscaped: false,
    at,
  });

  /** Processes a non-blank byte outside of rows and names; returns the kind of text that begins there, if any. */
  const step = (byte: number): 'row' | 'name' | undefined => {
    if (expected === 'document' && byte === openList) expected = 'first row';
    else if (expected === 'document' && byte === openObject) {
      isKeyed = true;
      expected = 'first name';
    } else if ((expected === 'first row' || expected === 'row') && byte === openObject)
      return 'row';
    else if ((expected === 'first row' || expected === 'row end') && byte === closeList)
      expected = isKeyed ? 'list end' : 'nothing';
    else if (expected === 'row end' && byte === comma) expected = 'row';
    else if ((expected === 'first name' || expected === 'name') && byte === quote) return 'name';
    else if ((expected === 'first name' || expected === 'list end') && byte === closeObject)
      expected = 'nothing';
    else if (expected === 'colon' && byte === colon) expected = 'list';
    else if (expected === 'list' && byte === openList) expected = 'first row';
    else if (expected === 'list end' && byte === comma) expected = 'name';
    else throw refuseByte(byte);
    return undefined;
  };

  const keep = (open: Part, bytes: Buffer): void => {
    open.bytes += bytes.length;
    if (open.bytes > formatLimits.rowBytes) {
      throw unreadable(name, open.at, `a row is longer than ${formatLimits.rowBytes} bytes`);
    }
    open.pieces.push(bytes);
  };

  /** Returns the index behind the part's last byte, or -1 when it continues in the next piece. */
  const endOfPart = (open: Part, piece: Buffer, from: number): number => {
    for (let i = from; i < piece.length; i += 1) {
      const byte = piece[i] as number;
      if (byte === newline) line += 1;
      if (open.isEscaped) open.isEscaped = false;
      else if (open.isString) {
        if (byte === backslash) open.isEscaped = true;
        else if (byte === quote) {
          open.isString = false;
          if (open.depth === 0) return i + 1;
        }
      } else if (byte === quote) open.isString = true;
      else if (byte === openObject || byte === openList) open.depth += 1;
      else if (byte === closeObject || byte === closeList) {
        open.depth -= 1;
        if (open.depth === 0) return i + 1;
      }
    }
    return -1;
  };

  const takeName = (text: string): void => {
    let read: unknown;
    try {
      read = JSON.parse(text);
    } catch {
      throw refuse(`${text.slice(0, 40)} is no JSON text`);
    }
    entity = String(read);
    if (seen.has(entity)) throw refuse(`"${entity}" is written twice`);
    seen.add(entity);
    expected = 'colon';
  };

  return {
    /** Returns the rows that end in this piece. */
    push(piece: Buffer): Taken[] {
      const taken: Taken[] = [];
      let i = 0;
      while (i < piece.length) {
        if (part === undefined) {
          const byte = piece[i] as number;
          if (isBlank(byte)) {
            if (byte === newline) line += 1;
            i += 1;
            continue;
          }
          const begun = step(byte);
          if (begun === undefined) {
            i += 1;
            continue;
          }
          part = begin(line, false);
        }
        const end = endOfPart(part, piece, i);
        keep(part, piece.subarray(i, end === -1 ? piece.length : end));
        if (end === -1) return taken;
        i = end;
        const text = (
          part.pieces.length === 1 ? (part.pieces[0] as Buffer) : Buffer.concat(part.pieces)
        ).toString('utf8');
        const { at } = part;
        part = undefined;
        if (expected === 'first name' || expected === 'name') takeName(text);
        else {
          expected = 'row end';
          taken.push({ kind: 'row', text, at, entity });
        }
      }
      return taken;
    },
    end(): void {
      if (part !== undefined)
        throw unreadable(name, part.at, 'what begins here does not end; the file is cut off');
      if (expected !== 'nothing') throw refuse(`the file ends where ${words[expected]} should be`);
    },
  };
};

/** Reads the rows of a document; `bareEntity` returns the entity of rows in a plain list. */
export async function* readDocument(
  name: string,
  pieces: AsyncIterable<Buffer>,
  bareEntity: () => string,
): AsyncGenerator<FoundBatch> {
  const cutter = createCutter(name);
  let batch = createBatch();
  let bare: string | undefined;
  for await (const piece of pieces) {
    for (const { text, at, entity: named } of cutter.push(piece)) {
      if (named === undefined) bare ??= bareEntity();
      const entity = named ?? bare ?? '';
      const read = readRowText(text);
      if ('row' in read) batch.rows.push({ at, entity, row: read.row });
      else batch.faults.push({ at, entity, ...read });
      if (!isFull(batch)) continue;
      yield batch;
      batch = createBatch();
    }
  }
  cutter.end();
  if (!isEmpty(batch)) yield batch;
}
