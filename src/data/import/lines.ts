/**
 * The lines of a gzipped file, a block at a time. What it unpacks to is a stranger's: a line that is too long is
 * skipped as it comes, and a file that unpacks to too much, or is no gzip, ends in a `ChunkFault`.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ImportLimits } from './limits.ts';

/** A line's text, or why it has none. */
export type Line = string | { fault: string };

/** What is wrong with a chunk as a whole. */
export class ChunkFault extends Error {}

type LineLimits = Pick<ImportLimits, 'lineBytes' | 'unpackedChunkBytes'>;

const blockBytes = 256 * 1024;
const lineBreak = 0x0a;
const noBytes = Buffer.alloc(0);

const notUtf8: Line = { fault: 'is not UTF-8; write the file in UTF-8' };

const decodeLine = (bytes: Buffer): Line => (isUtf8(bytes) ? bytes.toString('utf8') : notUtf8);

/** The lines of a text that is not UTF-8 as a whole. */
const decodeEach = (bytes: Buffer): Line[] => {
  const lines: Line[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const found = bytes.indexOf(lineBreak, start);
    const end = found === -1 ? bytes.length : found;
    lines.push(decodeLine(bytes.subarray(start, end)));
    start = end + 1;
  }
  return lines;
};

const decodeLines = (bytes: Buffer): Line[] =>
  isUtf8(bytes) ? bytes.toString('utf8').split('\n') : decodeEach(bytes);

/** Puts lines together that lie in several blocks. */
const createSplitter = (lineBytes: number) => {
  let parts: Buffer[] = [];
  let held = 0;
  let isTooLong = false;

  const hold = (part: Buffer): void => {
    isTooLong ||= held + part.length > lineBytes;
    if (isTooLong) {
      parts = [];
      held = 0;
    } else if (part.length > 0) {
      parts.push(part);
      held += part.length;
    }
  };
  const finish = (): Line => {
    const line = isTooLong
      ? { fault: `is longer than ${lineBytes} bytes, the most that a row may have` }
      : decodeLine(Buffer.concat(parts));
    hold(noBytes);
    parts = [];
    held = 0;
    isTooLong = false;
    return line;
  };
  return {
    take(block: Buffer): Line[] {
      const first = block.indexOf(lineBreak);
      if (first === -1) {
        hold(block);
        return [];
      }
      const last = block.lastIndexOf(lineBreak);
      hold(block.subarray(0, first));
      const begun = finish();
      hold(block.subarray(last + 1));
      if (last === first) return [begun];
      return [begun, ...decodeLines(block.subarray(first + 1, last))];
    },
    /** What follows the last line break. */
    end: (): Line[] => [finish()],
  };
};

const withoutMark = ([first, ...others]: Line[]): Line[] =>
  typeof first === 'string' && first.startsWith('\ufeff')
    ? [first.slice(1), ...others]
    : [first ?? '', ...others];

const isZlibFault = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');

/** All lines of a file in order, the empty ones too; a mark of the byte order at its beginning is left out. */
export async function* readLines(file: string, limits: LineLimits): AsyncGenerator<Line[]> {
  const { lineBytes, unpackedChunkBytes } = limits;
  const chunkSize = Math.max(64, Math.min(blockBytes, lineBytes));
  // What goes wrong is thrown to whoever reads the blocks; a reader that stops early is nothing wrong.
  const blocks = pipeline(createReadStream(file), createGunzip({ chunkSize }), () => undefined);
  const splitter = createSplitter(lineBytes);
  let unpacked = 0;
  let isFirst = true;
  try {
    for await (const block of blocks as AsyncIterable<Buffer>) {
      unpacked += block.length;
      if (unpacked > unpackedChunkBytes) {
        throw new ChunkFault(
          `unpacks to more than ${unpackedChunkBytes} bytes; send its rows in several chunks`,
        );
      }
      const lines = splitter.take(block);
      if (lines.length === 0) continue;
      yield isFirst ? withoutMark(lines) : lines;
      isFirst = false;
    }
  } catch (error) {
    if (!isZlibFault(error)) throw error;
    throw new ChunkFault(`is no whole gzip file (${error.message}); send it again`);
  }
  const last = splitter.end();
  yield isFirst ? withoutMark(last) : last;
}
