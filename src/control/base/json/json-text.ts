/**
 * JSON that stays text. What clients and hosts send as free JSON, and what is stored of it, is neither
 * parsed nor written again on its way: an answer has the text put in where its place is, and is sent
 * piece by piece where it is large.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

/** No text of anybody's can hold this: it is made when the program starts and never sent. */
const marker = `json-text-${randomUUID()}`;
const quotedMarker = `"${marker}"`;

/** Of an answer: text, or bytes of it; characters are whole in each. */
export type Piece = string | Buffer;
/** Of one that is sent while it is made: also bytes that are still to come. */
type SentPiece = Piece | AsyncIterable<Buffer>;

/** Texts of the value that is being written just now, in their order; null at all other times. */
let found: (readonly SentPiece[])[] | null = null;

const note = (pieces: readonly SentPiece[]): string => {
  if (found === null) throw new Error('a JSON text can be written by writeJson and jsonBody alone');
  found.push(pieces);
  return marker;
};

/** A member of an answer that is JSON text already. It must be whole, valid JSON. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /** Only for `writeJson` and `jsonBody`. */
  toJSON(): string {
    return note([this.text]);
  }
}

class JsonPieces {
  readonly #pieces: readonly SentPiece[];
  constructor(pieces: readonly SentPiece[]) {
    this.#pieces = pieces;
  }
  toJSON(): string {
    return note(this.#pieces);
  }
}

/** A value of an answer that is the JSON of these pieces together; it can only be written. */
export const jsonPieces = <Value>(pieces: readonly SentPiece[]): Value =>
  new JsonPieces(pieces) as unknown as Value;

/** A list of an answer whose entries are JSON texts already; it can only be written, and stands where its entries would. */
export const jsonList = <Entry>(entries: readonly string[]): Entry[] =>
  jsonPieces(['[', entries.join(','), ']']);

class JsonMembers {
  readonly #text: string;
  readonly #members: object;
  constructor(text: string, members: object) {
    this.#text = text;
    this.#members = members;
  }
  toJSON(): string {
    const [first, ...rest] = writePieces(this.#members);
    if (first === '{}') return note([this.#text]);
    return note([`${this.#text.slice(0, -1)},${String(first).slice(1)}`, ...rest]);
  }
}

/** An object of an answer that is JSON text already, with at least one member, and has further ones; it can only be written. */
export const jsonWith = <Value>(text: string, members: object): Value =>
  new JsonMembers(text, members) as unknown as Value;

/** A value of an answer that is JSON text already; it can only be written, and stands where the value would. */
export const jsonOf = <Value>(text: string): Value => new JsonText(text) as unknown as Value;

/** The text of a stored value, or null for none. */
export const jsonText = (text: string | null): JsonText | null =>
  text === null ? null : new JsonText(text);

/** A text of which JSON has nothing escaped. */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** A text as JSON; most need nothing escaped. */
export const quoted = (text: string): string =>
  plain.test(text) ? `"${text}"` : JSON.stringify(text);

/** The same of one that may be none. */
export const quotedOrNull = (text: string | null): string =>
  text === null ? 'null' : quoted(text);

/** A number as JSON; one that is none or not finite is null, as everywhere. */
export const numberJson = (number: number | null): string =>
  Number.isFinite(number) ? String(number) : 'null';

/** The JSON in pieces, each text in the place of a marker. */
const putIn = (json: string, texts: readonly (readonly SentPiece[])[]): SentPiece[] => {
  const pieces: SentPiece[] = [];
  let start = 0;
  for (const text of texts) {
    const end = json.indexOf(quotedMarker, start);
    pieces.push(json.slice(start, end));
    for (const piece of text) pieces.push(piece);
    start = end + quotedMarker.length;
  }
  pieces.push(json.slice(start));
  return pieces;
};

const writePieces = (value: unknown): SentPiece[] => {
  const texts: (readonly SentPiece[])[] = [];
  const around = found;
  found = texts;
  let json: string;
  try {
    json = JSON.stringify(value);
  } finally {
    found = around;
  }
  return texts.length === 0 ? [json] : putIn(json, texts);
};

const isThere = (piece: SentPiece): piece is Piece =>
  typeof piece === 'string' || Buffer.isBuffer(piece);

/** A value as JSON, in pieces that follow one another. */
export const writeJson = (value: unknown): Piece[] => {
  const pieces = writePieces(value);
  if (pieces.every(isThere)) return pieces;
  throw new Error('what is still to come can be written by jsonBody alone');
};

/** Characters that are given to the connection at once; an answer of no more is sent whole. */
export const chunkChars = 64 * 1024;

/** Where a chunk ends that begins at `start`: never between the two halves of one character. */
const endOf = (piece: string, start: number): number => {
  const end = start + chunkChars;
  return (piece.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
};

/** The pieces as bytes, small ones together, each chunk made when the one before is on its way. */
export const chunksOf = function* (pieces: readonly Piece[]): Generator<Buffer> {
  let held = '';
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      if (held !== '') yield Buffer.from(held);
      held = '';
      yield piece;
      continue;
    }
    if (held.length + piece.length <= chunkChars) {
      held += piece;
      continue;
    }
    if (held !== '') yield Buffer.from(held);
    let start = 0;
    for (; piece.length - start > chunkChars; start = endOf(piece, start)) {
      yield Buffer.from(piece.slice(start, endOf(piece, start)));
    }
    held = piece.slice(start);
  }
  if (held !== '') yield Buffer.from(held);
};

const sentPieces = async function* (pieces: readonly SentPiece[]): AsyncGenerator<Buffer> {
  let held: Piece[] = [];
  for (const piece of pieces) {
    if (isThere(piece)) {
      held.push(piece);
      continue;
    }
    yield* chunksOf(held);
    held = [];
    yield* piece;
  }
  yield* chunksOf(held);
};

/** A body of an answer: text, or a stream where it is large. */
export const jsonBody = (value: unknown): string | Readable => {
  const pieces = writePieces(value);
  if (!pieces.every(isThere)) return Readable.from(sentPieces(pieces), { objectMode: false });
  const chars = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return chars <= chunkChars
    ? pieces.join('')
    : Readable.from(chunksOf(pieces), { objectMode: false });
};
