/**
 * Which version of which world a folder holds: noted in a hidden file among its files when the world was
 * created from it, pushed or pulled, so that the next push says what it is made from.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { isObject, withoutByteOrderMark } from '#domain/json.ts';
import type { Context } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { writeInPlace } from './write-tree.ts';

/** Like all hidden files, no part of a world. */
const noteFile = '.svc-base.json';

const pathOf = (context: Context, folder: string): string =>
  join(resolve(context.cwd, folder), noteFile);

/** The id of a version by the slug of its world, as the service of that time gave it. */
type Notes = Record<string, string>;

/** What a folder has noted of a world; `others` are the versions that it noted of worlds of other names. */
export type NotedBase =
  | { kind: 'none'; others: string[] }
  /** There are notes that nobody can read. */
  | { kind: 'broken' }
  | { kind: 'noted'; id: string };

/** What the file holds; undefined when that is no notes. Throws `invalid` for a link and whatever else is no file. */
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

/** Which version of a world a folder holds, as it was noted last. */
export const readBase = (context: Context, folder: string, slug: string): NotedBase => {
  const notes = readNotes(pathOf(context, folder));
  if (notes === undefined) return { kind: 'broken' };
  const id = new Map(Object.entries(notes)).get(slug);
  return id === undefined ? { kind: 'none', others: Object.values(notes) } : { kind: 'noted', id };
};

/** Notes that a folder holds a version of a world, by the slug that the service calls it. */
export const noteBase = (context: Context, folder: string, slug: string, id: string): void => {
  const path = pathOf(context, folder);
  writeInPlace(path, formatJson({ ...readNotes(path), [slug]: id }));
};
