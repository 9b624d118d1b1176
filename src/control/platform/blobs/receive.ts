/** Receives an upload into a file, and stops if the upload exceeds the announced size. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '#domain/error.ts';
import { scratchPath } from '#runtime/scratch-files.ts';
import { type AwaitedBlob, checkAwaited, measureFile } from './blobs.ts';

/**
 * Yields up to `most` bytes of the source. If it ends early, it leaves the source open, because the client must still
 * get its answer on that connection.
 */
async function* atMost(source: Readable, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of source.iterator({ destroyOnReturn: false })) {
    bytes += piece.byteLength;
    if (bytes > most) {
      throw new AppError('invalid', `more than the announced ${most} bytes were sent`);
    }
    yield piece;
  }
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(?:ENOSPC|EDQUOT)$/.test(String(error.code));

/** Writes the source to a new file. Throws `invalid` if the source has more than `most` bytes. */
export const receiveFile = async (path: string, source: Readable, most: number): Promise<void> => {
  try {
    await pipeline(atMost(source, most), createWriteStream(path, { flags: 'wx' }));
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (isDiskFull(error)) {
      throw new AppError('unavailable', 'the disk for uploads is full; the bytes were not stored', {
        cause: error,
      });
    }
    throw new AppError('invalid', 'the upload broke off; send it again', { cause: error });
  }
};

/**
 * Receives an upload into a temporary file, checks it, passes the file's path to `use`, and then removes the file.
 * Throws `invalid` if size or digest differ from the announcement. Reading stops at the announced size.
 */
export const withReceived = async (
  workDir: string,
  source: Readable,
  awaited: AwaitedBlob,
  use: (path: string) => Promise<unknown>,
): Promise<void> => {
  const path = await scratchPath(join(workDir, 'received'), '.part');
  try {
    await receiveFile(path, source, awaited.bytes);
    checkAwaited(await measureFile(path), awaited);
    await use(path);
  } finally {
    await rm(path, { force: true });
  }
};
