/**
 * Checks that text is UTF-8, and refuses other encodings by name. Nothing is replaced or guessed, since wrongly
 * decoded rows look right. A byte order mark is removed.
 */
import { isUtf8 } from 'node:buffer';
import { unreadable } from './found.ts';

const convert = (from: string): string => `convert it: iconv -f ${from} -t UTF-8 <file>`;

/** Returns the encoding of a stream whose first bytes cannot be UTF-8; undefined when they can. */
const otherEncoding = (first: Uint8Array): string | undefined => {
  const [a, b, c, d] = first;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return 'UTF-16';
  if (a === 0 && b === 0 && (c !== 0 || d !== 0)) return 'UTF-32';
  if ((a === 0) !== (b === 0)) return 'UTF-16';
  return undefined;
};

const hasMark = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

const countLines = (bytes: Buffer): number => {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
};

/** Returns the number of bytes at the end that belong to an incomplete character: 0 to 3. */
const unfinished = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
};

/** Returns the offset of the first byte that is not UTF-8. */
const faultIn = (bytes: Buffer): number => {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const begin = bytes.subarray(0, middle);
    if (isUtf8(begin.subarray(0, middle - unfinished(begin)))) good = middle;
    else bad = middle;
  }
  // A character that begins correctly and breaks off is at fault from its first byte.
  return bad - 1 - unfinished(bytes.subarray(0, bad - 1));
};

const hex = (byte: number | undefined): string => `0x${(byte ?? 0).toString(16).padStart(2, '0')}`;

const refuse = (name: string, lines: number, bytes: Buffer, isEnd: boolean) => {
  if (isEnd)
    return unreadable(name, lines + 1, 'ends in the middle of a character; the file is cut off');
  const fault = faultIn(bytes);
  const line = lines + countLines(bytes.subarray(0, fault)) + 1;
  const what = `holds the byte ${hex(bytes[fault])}, which is not UTF-8; the file looks like Latin-1 (Windows-1252)`;
  return unreadable(name, line, what, convert('WINDOWS-1252'));
};

/** Yields the pieces of a stream after checking that they are UTF-8. No yielded piece ends within a character. */
export async function* checkedUtf8(
  name: string,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  let lines = 0;
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const piece of pieces) {
    let bytes: Buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (rest.length > 0) bytes = Buffer.concat([rest, bytes]);
    if (isFirst) {
      const other = otherEncoding(bytes);
      if (other !== undefined) {
        throw unreadable(name, undefined, `is ${other}, not UTF-8`, convert(other));
      }
      if (hasMark(bytes)) bytes = bytes.subarray(3);
      isFirst = false;
    }
    const end = bytes.length - unfinished(bytes);
    rest = Buffer.from(bytes.subarray(end));
    bytes = bytes.subarray(0, end);
    if (!isUtf8(bytes)) throw refuse(name, lines, bytes, false);
    lines += countLines(bytes);
    if (bytes.length > 0) yield bytes;
  }
  if (rest.length > 0) throw refuse(name, lines, rest, true);
}
