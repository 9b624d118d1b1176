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

/** Kinds of syntax that may come next, outside rows and names. */
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
  nothing: 'the end of the file',
};

/**
 * Returns the syntax that is expected after a byte, or `begin` if a row or name begins with the byte; undefined if the
 * byte is not allowed.
 */
const nextAfter = (
  expected: Expected,
  byte: number,
  isKeyed: boolean,
): Expected | 'begin' | undefined => {
  switch (expected) {
    case 'document':
      if (byte === openList) return 'first row';
      return byte === openObject ? 'first name' : undefined;
    case 'first row':
    case 'row end':
      if (byte === closeList) return isKeyed ? 'list end' : 'nothing';
      if (expected === 'row end') return byte === comma ? 'row' : undefined;
      return byte === openObject ? 'begin' : undefined;
    case 'row':
      return byte === openObject ? 'begin' : undefined;
    case 'first name':
      if (byte === closeObject) return 'nothing';
      return byte === quote ? 'begin' : undefined;
    case 'name':
      return byte === quote ? 'begin' : undefined;
    case 'colon':
      return byte === colon ? 'list' : undefined;
    case 'list':
      return byte === openList ? 'first row' : undefined;
    case 'list end':
      if (byte === comma) return 'name';
      return byte === closeObject ? 'nothing' : undefined;
    case 'nothing':
      return undefined;
  }
};

/** A row or a name of which only the beginning was read: its bytes so far, and the state of the scan within it. */
type Part = {
  pieces: Buffer[];
  bytes: number;
  depth: number;
  isString: boolean;
  isEscaped: boolean;
  /** Line on which the row or name begins, and the number of line ends read within it so far. */
  at: number;
  lines: number;
};

const beginPart = (at: number): Part => ({
  pieces: [],
  bytes: 0,
  depth: 0,
  isString: false,
  isEscaped: false,
  at,
  lines: 0,
});

/** Returns the index after the last byte of the row or name, or -1 if it continues in the next piece. */
const endOfPart = (part: Part, piece: Buffer, from: number): number => {
  for (let i = from; i < piece.length; i += 1) {
    const byte = piece[i] as number;
    if (byte === newline) part.lines += 1;
    if (part.isEscaped) part.isEscaped = false;
    else if (part.isString) {
      if (byte === backslash) part.isEscaped = true;
      else if (byte === quote) {
        part.isString = false;
        if (part.depth === 0) return i + 1;
      }
    } else if (byte === quote) part.isString = true;
    else if (byte === openObject || byte === openList) part.depth += 1;
    else if (byte === closeObject || byte === closeList) {
      part.depth -= 1;
      if (part.depth === 0) return i + 1;
    }
  }
  return -1;
};

const textOfPart = ({ pieces }: Part): string =>
  (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString('utf8');

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

  /** Processes a non-blank byte outside of rows and names; returns true if a row or name begins with it. */
  const step = (byte: number): boolean => {
    const next = nextAfter(expected, byte, isKeyed);
    if (next === undefined) {
      const found = JSON.stringify(String.fromCharCode(byte));
      throw refuse(`${found} was found instead of ${words[expected]}`);
    }
    if (next === 'begin') return true;
    if (next === 'first name') isKeyed = true;
    expected = next;
    return false;
  };

  const keep = (open: Part, bytes: Buffer): void => {
    open.bytes += bytes.length;
    if (open.bytes > formatLimits.rowBytes) {
      throw unreadable(name, open.at, `a row is longer than ${formatLimits.rowBytes} bytes`);
    }
    open.pieces.push(bytes);
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
          if (byte === newline) line += 1;
          if (isBlank(byte) || !step(byte)) {
            i += 1;
            continue;
          }
          part = beginPart(line);
        }
        const end = endOfPart(part, piece, i);
        keep(part, piece.subarray(i, end === -1 ? piece.length : end));
        if (end === -1) return taken;
        i = end;
        const text = textOfPart(part);
        const { at, lines } = part;
        line += lines;
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
        throw unreadable(
          name,
          part.at,
          'a value begins here and does not end; the file is cut off',
        );
      if (expected !== 'nothing') throw refuse(`the file ends instead of ${words[expected]}`);
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
