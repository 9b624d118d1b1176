/** Bytes of the service as a file: whole, or not there. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '#domain/error.ts';

/**
 * Writes what is read to a path, in place of what was there. Nothing stays of what breaks off, and a file that was
 * there before stays then; `what` it is goes into the refusal.
 */
export const saveStream = async (source: Readable, path: string, what: string): Promise<void> => {
  const beside = `${path}.part`;
  try {
    await pipeline(source, createWriteStream(beside));
    await rename(beside, path);
  } catch (cause) {
    await rm(beside, { force: true });
    throw new AppError('unavailable', `${what} could not be written whole to ${path}`, { cause });
  }
};
