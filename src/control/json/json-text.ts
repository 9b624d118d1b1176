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

/** Texts of the value that is being written just now, in their order; null at all other times. */
let found: (readonly string[])[] | null = null;

const note = (pieces: readonly string[]): string => {
  if (found === null) throw new Error('a JSON text can be written by writeJson alone');
  found.push(pieces);
  return marker;
};

/** A member of an answer that is JSON text already. It must be whole, valid JSON. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /** Only for `writeJson`. */
  toJSON(): string {
    return note([this.text]);
  }
}

class JsonList {
  readonly #entries: readonly string[];
  constructor(entries: readonly string[]) {
    this.#entries = entries;
  }
  toJSON(): string {
    const pieces = this.#entries.flatMap((entry, index) => [index === 0 ? '[' : ',', entry]);
    return note(pieces.length === 0 ? ['[]'] : [...pieces, ']']);
  }
}

/** A list of an answer whose entries are JSON texts already; it can only be written, and stands where its entries would. */
export const jsonList = <Entry>(entries: readonly string[]): Entry[] =>
  new JsonList(entries) as unknown as Entry[];

/** The text of a stored value, or null for none. */
export const jsonText = (text: string | null): JsonText | null =>
  text === null ? null : new JsonText(text);

/** The JSON in pieces, each text in the place of a marker. */
const putIn = (json: string, texts: readonly (readonly string[])[]): string[] => {
  const pieces: string[] = [];
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

/** A value as JSON, in pieces that follow one another. */
export const writeJson = (value: unknown): string[] => {
  const texts: (readonly string[])[] = [];
  found = texts;
  let json: string;
  try {
    json = JSON.stringify(value);
  } finally {
    found = null;
  }
  return texts.length === 0 ? [json] : putIn(json, texts);
};

/** Entries of a list are written so many together: each by itself takes half as long again. */
const mostTogether = 100;

/** Writes the entries of a list of an answer as they come, so that no more than some are there at once. */
export const createJsonEntries = <Entry>() => {
  const texts: string[] = [];
  let held: Entry[] = [];
  const write = (): void => {
    if (held.length === 0) return;
    texts.push(writeJson(held).join('').slice(1, -1));
    held = [];
  };
  return {
    add(entry: Entry): void {
      held.push(entry);
      if (held.length === mostTogether) write();
    },
    /** All that were added, as `jsonList` gives them. */
    list(): Entry[] {
      write();
      return jsonList<Entry>(texts);
    },
  };
};

/** Up to so many characters an answer is sent whole. */
const mostWhole = 64 * 1024;
/** Characters that are given to the connection at once. */
const chunkChars = 64 * 1024;

/** Where a chunk ends that begins at `start`: never between the two halves of one character. */
const endOf = (piece: string, start: number): number => {
  const end = start + chunkChars;
  return (piece.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
};

/** The pieces as bytes, small ones together, each chunk made when the one before is on its way. */
export const chunksOf = function* (pieces: readonly string[]): Generator<Buffer> {
  let held = '';
  for (const piece of pieces) {
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

/** A body of an answer: text, or a stream where it is large. */
export const jsonBody = (value: unknown): string | Readable => {
  const pieces = writeJson(value);
  const chars = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return chars <= mostWhole
    ? pieces.join('')
    : Readable.from(chunksOf(pieces), { objectMode: false });
};
