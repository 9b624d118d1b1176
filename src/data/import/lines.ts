/**
 * Reads the lines of a gzipped file, a block at a time. Its contents are untrusted: a line that is too long is skipped
 * as it is read. If the file unpacks to too many bytes, or is not gzip, a `ChunkFault` is thrown.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ImportLimits } from './limits.ts';

/** Text of a line, or the reason why the line cannot be read. */
export type Line = string | { fault: string };

/** Fault of a chunk as a whole. */
export class ChunkFault extends Error {}

type LineLimits = Pick<ImportLimits, 'lineBytes' | 'unpackedChunkBytes'>;

const blockBytes = 256 * 1024;
const lineBreak = 0x0a;
const noBytes = Buffer.alloc(0);

const notUtf8: Line = { fault: 'is not UTF-8; write the file in UTF-8' };

const decodeLine = (bytes: Buffer): Line => (isUtf8(bytes) ? bytes.toString('utf8') : notUtf8);

/** Decodes the lines of a text of which some are not UTF-8. */
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

/** Creates the splitter, which joins lines that span several blocks. */
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
      ? { fault: `is longer than ${lineBytes} bytes, the maximum for a row` }
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
    /** Returns the text after the last line break. */
    end: (): Line[] => [finish()],
  };
};

const withoutMark = ([first, ...others]: Line[]): Line[] =>
  typeof first === 'string' && first.startsWith('\ufeff')
    ? [first.slice(1), ...others]
    : [first ?? '', ...others];

const isZlibFault = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');

/** Reads all lines of a file in order, including empty ones. A byte order mark at the beginning is removed. */
export async function* readLines(file: string, limits: LineLimits): AsyncGenerator<Line[]> {
  const { lineBytes, unpackedChunkBytes } = limits;
  const chunkSize = Math.max(64, Math.min(blockBytes, lineBytes));
  // Errors are thrown to the reader of the blocks, so the callback ignores them; a reader that stops early is no
  // error.
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
    throw new ChunkFault(`is not a complete gzip file (${error.message}); send the chunk again`);
  }
  const last = splitter.end();
  yield isFirst ? withoutMark(last) : last;
}
