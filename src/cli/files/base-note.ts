/**
 * Which version of which world a folder holds: noted in a hidden file among its files when the world was
 * created from it, pushed or pulled, so that the next push says what it is made from.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { Context } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';

/** Like all hidden files, no part of a world. */
const noteFile = '.svc-base.json';

const pathOf = (context: Context, folder: string): string =>
  join(resolve(context.cwd, folder), noteFile);

/** The id of a version, as the service of that time gave it. */
type Notes = Record<string, string>;

const readNotes = (context: Context, folder: string): Notes => {
  const path = pathOf(context, folder);
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isObject(value)
      ? Object.fromEntries(
          Object.entries(value).filter((entry): entry is [string, string] => {
            return typeof entry[1] === 'string';
          }),
        )
      : {};
  } catch (error) {
    // A note that is not there, or was broken by hand, is none: the head is asked for then.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT')
      return {};
    throw new AppError('invalid', `cannot read ${path}`, { cause: error });
  }
};

/** The id of the version of a world that a folder holds, as it was noted last. */
export const readBase = (context: Context, folder: string, slug: string): string | undefined =>
  readNotes(context, folder)[slug];

/** Notes that a folder holds a version of a world. */
export const noteBase = (context: Context, folder: string, slug: string, id: string): void => {
  const notes = readNotes(context, folder);
  const path = pathOf(context, folder);
  try {
    writeFileSync(path, formatJson({ ...notes, [slug]: id }));
  } catch (cause) {
    throw new AppError('invalid', `cannot write ${path}`, { cause });
  }
};
