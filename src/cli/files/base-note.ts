/**
 * Records the version of a world that a folder contains, in a hidden file of the folder. The record is written when the
 * world is created from the folder, pushed or pulled. The next push then names the version that it is based on.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { isObject, withoutByteOrderMark } from '#domain/json.ts';
import type { Context } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { writeInPlace } from './write-tree.ts';

/** Name of the hidden file; hidden files are not part of a world. */
const noteFile = '.svc-base.json';

const pathOf = (context: Context, folder: string): string =>
  join(resolve(context.cwd, folder), noteFile);

/** Version id by the slug of the world. */
type Notes = Record<string, string>;

/** Recorded version of a world. `others` are the versions that the folder records for worlds with other slugs. */
export type NotedBase =
  | { kind: 'none'; others: string[] }
  /** True if the file exists but cannot be parsed. */
  | { kind: 'broken' }
  | { kind: 'noted'; id: string };

/**
 * Reads the file; undefined if its contents are invalid. Throws `invalid` if the path is a link or anything else that
 * is not a file.
 */
const readNotes = (path: string): Notes | undefined => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return {};
    if (!found.isFile()) {
      const what = found.isSymbolicLink() ? 'a link' : 'no file';
      throw new AppError('invalid', `${path} is ${what}: remove it`);
    }
    const value: unknown = JSON.parse(withoutByteOrderMark(readFileSync(path, 'utf8')));
    const isNotes = isObject(value) && Object.values(value).every((id) => typeof id === 'string');
    return isNotes ? (value as Notes) : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    if (cause instanceof AppError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return {};
    throw new AppError('invalid', `cannot read ${path}`, { cause });
  }
};

/** Returns the last recorded version of a world that the folder contains. */
export const readBase = (context: Context, folder: string, slug: string): NotedBase => {
  const notes = readNotes(pathOf(context, folder));
  if (notes === undefined) return { kind: 'broken' };
  const id = new Map(Object.entries(notes)).get(slug);
  return id === undefined ? { kind: 'none', others: Object.values(notes) } : { kind: 'noted', id };
};

/** Records that a folder contains a version of a world, under the slug that the service uses for the world. */
export const noteBase = (context: Context, folder: string, slug: string, id: string): void => {
  const path = pathOf(context, folder);
  writeInPlace(path, formatJson({ ...readNotes(path), [slug]: id }));
};
