/**
 * JSON that stays text. Values without a fixed schema, from clients, hosts or the database, are neither parsed nor
 * serialized again. Their text is inserted into the answer, which is sent in chunks if it is large.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

/**
 * Marks the position of a text in an answer. It is random at each start of the program and never sent, so no user's
 * text can contain it.
 */
const marker = `json-text-${randomUUID()}`;
const quotedMarker = `"${marker}"`;

/** Part of an answer as text or bytes. No character is split between two pieces. */
export type Piece = string | Buffer;
/** Part of an answer; with an `AsyncIterable`, it is still being produced while it is sent. */
type SentPiece = Piece | AsyncIterable<Buffer>;

/** Texts found in the value that is being serialized, in order; null while nothing is being serialized. */
let found: (readonly SentPiece[])[] | null = null;

const note = (pieces: readonly SentPiece[]): string => {
  if (found === null) throw new Error('only writeJson and jsonBody can serialize a JsonText');
  found.push(pieces);
  return marker;
};

/** Member of an answer that is already JSON text. The text must be complete and valid. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /**
   * Returns the marker of this text. `JSON.stringify` calls it within `writeJson` and `jsonBody`; it throws if called
   * anywhere else.
   */
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

/** Returns a placeholder for the JSON that these pieces form. Only `writeJson` and `jsonBody` can serialize it. */
export const jsonPieces = <Value>(pieces: readonly SentPiece[]): Value =>
  new JsonPieces(pieces) as unknown as Value;

/** Returns a placeholder for a list whose entries are already JSON texts. It can be used only to be serialized. */
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

/**
 * Returns a placeholder for an object with the members of the JSON object `text`, which must have at least one member,
 * and then the given `members`. It can be used only to be serialized.
 */
export const jsonWith = <Value>(text: string, members: object): Value =>
  new JsonMembers(text, members) as unknown as Value;

/** Returns a placeholder for a value that is already JSON text. It can be used only to be serialized. */
export const jsonOf = <Value>(text: string): Value => new JsonText(text) as unknown as Value;

/** Returns a placeholder for the stored JSON text of a value; null if there is none. */
export const jsonText = (text: string | null): JsonText | null =>
  text === null ? null : new JsonText(text);

/** Matches a text in which JSON needs no escapes. */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** Returns a text as a JSON string. Most texts need no escapes and take a faster path. */
export const quoted = (text: string): string =>
  plain.test(text) ? `"${text}"` : JSON.stringify(text);

/** Returns a text as a JSON string; `null` if the text is null. */
export const quotedOrNull = (text: string | null): string =>
  text === null ? 'null' : quoted(text);

/** Returns a number as JSON; `null` if it is null or not finite, as `JSON.stringify` does. */
export const numberJson = (number: number | null): string =>
  Number.isFinite(number) ? String(number) : 'null';

/** Replaces each marker in the JSON by the text that belongs there, and returns the pieces. */
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

/** Serializes a value as JSON. Returns consecutive pieces of the text. */
export const writeJson = (value: unknown): Piece[] => {
  const pieces = writePieces(value);
  if (pieces.every(isThere)) return pieces;
  throw new Error('only jsonBody can serialize a list that is still being produced');
};

/** Maximum number of characters written to the connection at once. An answer up to this size is sent as a whole. */
export const chunkChars = 64 * 1024;

/** Returns the end of the chunk that begins at `start`. No surrogate pair is split. */
const endOf = (piece: string, start: number): number => {
  const end = start + chunkChars;
  return (piece.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
};

/**
 * Yields the pieces as bytes, and joins small pieces. Each chunk is built only when the previous one has been consumed.
 */
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

/** Returns the body of an answer: text, or a stream if the answer is large or still being produced. */
export const jsonBody = (value: unknown): string | Readable => {
  const pieces = writePieces(value);
  if (!pieces.every(isThere)) return Readable.from(sentPieces(pieces), { objectMode: false });
  const chars = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return chars <= chunkChars
    ? pieces.join('')
    : Readable.from(chunksOf(pieces), { objectMode: false });
};
