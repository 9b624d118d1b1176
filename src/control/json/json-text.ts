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
let found: string[] | null = null;

/** A member of an answer that is JSON text already. It must be whole, valid JSON. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /** Only for `writeJson`. */
  toJSON(): string {
    if (found === null) throw new Error('a JSON text can be written by writeJson alone');
    found.push(this.text);
    return marker;
  }
}

/** The text of a stored value, or null for none. */
export const jsonText = (text: string | null): JsonText | null =>
  text === null ? null : new JsonText(text);

/** A value as JSON, in pieces that follow one another. */
export const writeJson = (value: unknown): string[] => {
  const texts: string[] = [];
  found = texts;
  let json: string;
  try {
    json = JSON.stringify(value);
  } finally {
    found = null;
  }
  if (texts.length === 0) return [json];
  return json.split(quotedMarker).flatMap((piece, index) => [piece, texts[index] ?? '']);
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

/** The pieces as bytes, each chunk made when the one before is on its way. */
export const chunksOf = function* (pieces: readonly string[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start = endOf(piece, start)) {
      yield Buffer.from(piece.slice(start, endOf(piece, start)));
    }
  }
};

/** A body of an answer: text, or a stream where it is large. */
export const jsonBody = (value: unknown): string | Readable => {
  const pieces = writeJson(value);
  const chars = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return chars <= mostWhole
    ? pieces.join('')
    : Readable.from(chunksOf(pieces), { objectMode: false });
};
