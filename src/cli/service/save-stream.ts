/** Saves streamed bytes as a file, either complete or not at all. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '#domain/error.ts';

/**
 * Writes a stream to a path, and replaces an existing file. If the stream breaks off, the partial file is removed and
 * an existing file is left alone. `what` names the content in the error.
 */
export const saveStream = async (source: Readable, path: string, what: string): Promise<void> => {
  const beside = `${path}.part`;
  try {
    await pipeline(source, createWriteStream(beside));
    await rename(beside, path);
  } catch (cause) {
    await rm(beside, { force: true });
    throw new AppError('unavailable', `${what} could not be completely written to ${path}`, {
      cause,
    });
  }
};
