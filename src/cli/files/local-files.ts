/** Finds, measures and reads the local files that are uploaded to a project. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { lookup } from 'mime-types';
import { AppError } from '#domain/error.ts';

export type LocalFile = {
  /** Path on this machine. */
  at: string;
  /** Path relative to the named file or folder, with `/` between names. */
  path: string;
};

const otherType = 'application/octet-stream';

/** Returns the media type for a file's name. */
export const typeOfName = (name: string): string => lookup(name) || otherType;

const statOf = (at: string) =>
  stat(at).catch((cause: unknown) => {
    throw new AppError('not_found', `there is no file or folder ${at}`, { cause });
  });

const walk = async (
  folder: string,
  above: string,
  found: LocalFile[],
  left: string[],
): Promise<void> => {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const at = join(folder, entry.name);
    const path = `${above}${entry.name}`;
    if (entry.isDirectory()) await walk(at, `${path}/`, found, left);
    else if (entry.isFile()) found.push({ at, path });
    else left.push(at);
  }
};

/**
 * Finds the named file, or all files in the named folder, with paths relative to it. Links in a folder are skipped and
 * returned in `left`, because they may lead anywhere.
 */
export const findLocalFiles = async (
  at: string,
): Promise<{ files: LocalFile[]; isFolder: boolean; left: string[] }> => {
  const found = await statOf(at);
  if (found.isFile()) return { files: [{ at, path: basename(at) }], isFolder: false, left: [] };
  if (!found.isDirectory()) throw new AppError('invalid', `${at} is neither a file nor a folder`);
  const files: LocalFile[] = [];
  const left: string[] = [];
  await walk(at, '', files, left);
  return { files, isFolder: true, left };
};

/** Returns a file's size in bytes, and its digest in base64. */
export const measureLocal = async (at: string): Promise<{ bytes: number; sha256: string }> => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(at) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.byteLength;
  }
  return { bytes, sha256: hash.digest('base64') };
};

/** Returns the digest of a file in base64; undefined if the file does not exist. */
export const sumOfLocal = async (at: string): Promise<string | undefined> => {
  const isFile = await stat(at).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? (await measureLocal(at)).sha256 : undefined;
};
