/** Files of this machine that are sent to a project: found in a folder, measured, read piece by piece. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { lookup } from 'mime-types';
import { AppError } from '#domain/error.ts';

export type LocalFile = {
  /** Where it lies. */
  at: string;
  /** Its path from what was named on, with `/` between names. */
  path: string;
};

const otherType = 'application/octet-stream';

/** The type that the name of a file says. */
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
 * What is named: a file by its name, or a folder with all that is in it, by paths below it. Links in a folder are left
 * out and told, as they may lead anywhere.
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

/** How many bytes a file has, and their digest in base64. */
export const measureLocal = async (at: string): Promise<{ bytes: number; sha256: string }> => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(at) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.byteLength;
  }
  return { bytes, sha256: hash.digest('base64') };
};

/** The digest of a file in base64; undefined when there is none. */
export const sumOfLocal = async (at: string): Promise<string | undefined> => {
  const isFile = await stat(at).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? (await measureLocal(at)).sha256 : undefined;
};
