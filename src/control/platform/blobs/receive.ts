/** A file of what somebody sends, which ends where more comes than may. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '#domain/error.ts';
import { scratchPath } from '#runtime/scratch-files.ts';
import { type AwaitedBlob, checkAwaited, measureFile } from './blobs.ts';

/** What is left of the source is not destroyed: an answer is still to go to whoever sends it. */
async function* atMost(source: Readable, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of source.iterator({ destroyOnReturn: false })) {
    bytes += piece.byteLength;
    if (bytes > most) {
      throw new AppError('invalid', `more bytes were sent, and ${most} are awaited`);
    }
    yield piece;
  }
}

const isRoomError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(?:ENOSPC|EDQUOT)$/.test(String(error.code));

/** Writes it, to a path where nothing is yet; throws `invalid` for more than so many bytes. */
export const receiveFile = async (path: string, source: Readable, most: number): Promise<void> => {
  try {
    await pipeline(atMost(source, most), createWriteStream(path, { flags: 'wx' }));
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (isRoomError(error)) {
      throw new AppError('unavailable', 'there is no room for what is sent', { cause: error });
    }
    throw new AppError('invalid', 'what was sent broke off; send it again', { cause: error });
  }
};

/**
 * Does something with a file of what is sent, which is gone afterwards; throws `invalid` for anything but what was
 * awaited, and reads no more of it.
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
