/**
 * What a user hands to a command: JSON as text, `@file` or `-` for standard input; files of rows; a
 * folder as a world tree. Mistakes are `invalid` and name the file.
 */

import { readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ignore from 'ignore';
import { AppError } from '#domain/error.ts';
import { isObject, withoutByteOrderMark } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { scriptLanguage } from '#language/solution.ts';
import { readNamedFile } from '#runtime/named-file.ts';
import { readTree as readFolder } from '#runtime/tree.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import type { Context } from '../terminal/context.ts';

/** Reads a file that the user named. */
const readUserFile = (context: Context, path: string): Buffer => {
  try {
    return readFileSync(resolve(context.cwd, path));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new AppError('invalid', `there is no file ${path}`);
    if (code === 'EISDIR') throw new AppError('invalid', `${path} is a folder, not a file`);
    throw new AppError('invalid', `cannot read ${path}`, { cause });
  }
};

/** JSON of what a user handed in; throws `invalid`, naming it. */
export const parseJson = (text: string, what: string): unknown => {
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch (cause) {
    throw new AppError('invalid', `${what} is not JSON`, { cause });
  }
};

/** A text as it is given, or that of `@file`, or of standard input for `-`. */
export const readText = async (context: Context, given: string): Promise<string> => {
  if (given === '-') return (await context.readStdin()).toString();
  return given.startsWith('@') ? readUserFile(context, given.slice(1)).toString() : given;
};

/** A JSON object given as text, as `@file`, or as `-` for standard input. */
export const readJsonObject = async (
  context: Context,
  given: string,
  option: string,
): Promise<Row> => {
  const fromFile = given.startsWith('@');
  const what = given === '-' ? 'standard input' : fromFile ? given.slice(1) : option;
  const value = parseJson(await readText(context, given), what);
  if (!isObject(value)) throw new AppError('invalid', `${what} is not a JSON object`);
  return value;
};

/** Adds the source of a solution's script, which is a file in the folder of the task file or below it. */
const withSource = (context: Context, folder: string, solution: unknown): unknown => {
  if (!isObject(solution) || typeof solution.script !== 'string') return solution;
  const file = join(folder, solution.script);
  const language = scriptLanguage(file);
  if (language === undefined) {
    throw new AppError('invalid', `the script of a solution is a .py or .ts file, not ${file}`);
  }
  const source = readNamedFile(resolve(context.cwd, folder), solution.script, file).toString();
  return { ...solution, script: { language, source } };
};

/** A task in a file, or `-` for standard input, without what it says to editors alone. */
export const readTaskFile = async (context: Context, file: string): Promise<TaskSpec> => {
  const given = file === '-' ? '-' : `@${file}`;
  const { $schema: _, ...spec } = await readJsonObject(context, given, '--task-file');
  const folder = file === '-' ? '.' : dirname(file);
  const { solution, alternatives } = spec;
  return {
    ...spec,
    ...(solution === undefined ? {} : { solution: withSource(context, folder, solution) }),
    ...(Array.isArray(alternatives)
      ? { alternatives: alternatives.map((one) => withSource(context, folder, one)) }
      : {}),
  } as TaskSpec;
};

/** What stands at a path that the user named; undefined also where it cannot be looked at. */
const statOf = (context: Context, path: string): Stats | undefined => {
  try {
    return statSync(resolve(context.cwd, path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

const isFolder = (context: Context, text: string): boolean =>
  statOf(context, text)?.isDirectory() === true;

/**
 * Whether a text means a folder, there or not, rather than a template or a world: it is written as a path.
 * A name alone is no folder, so that what a command is about does not depend on where it is run.
 */
export const namesFolder = (text: string): boolean => /^[.~]|[/\\]/.test(text);

/** A folder written so that `namesFolder` takes it for one. */
export const asPath = (folder: string): string => (namesFolder(folder) ? folder : `./${folder}`);

/** Does what a name was given for; when that fails, and a folder has this name, tells how to name it. */
export const withFolderHint = async <Value>(
  context: Context,
  name: string,
  work: () => Promise<Value>,
): Promise<Value> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || namesFolder(name) || !isFolder(context, name)) throw error;
    const { code, message, detail, fields } = error;
    const hint = `for the folder here, write ${asPath(name)}`;
    const hints = [detail.hint, hint].filter((part) => typeof part === 'string');
    throw new AppError(code, message, {
      detail: { ...detail, hint: hints.join('; ') },
      fields,
      cause: error.cause,
    });
  }
};

/** The file of a tree whose patterns, written as in a .gitignore, leave files of the tree out. */
const ignoreFile = '.svcignore';

const readIgnored = (context: Context, folder: string): ((path: string) => boolean) => {
  const path = join(folder, ignoreFile);
  if (statOf(context, path) === undefined) return () => false;
  const patterns = ignore({ ignorecase: false }).add(
    withoutByteOrderMark(readUserFile(context, path).toString()),
  );
  return (candidate) => patterns.ignores(candidate);
};

/** A folder as a world tree, in the order of paths; hidden files, caches and what .svcignore names are left out. */
export const readTree = (context: Context, folder: string): TreeFile[] => {
  if (!isFolder(context, folder)) {
    const isThere = statOf(context, folder) !== undefined;
    const message = isThere ? `${folder} is not a folder` : `there is no folder ${folder}`;
    throw new AppError('invalid', message);
  }
  const ignored = readIgnored(context, folder);
  return readFolder(resolve(context.cwd, folder), folder, limits, ignored);
};

/** A tree with another laid over it: files of the same path are replaced. */
export const overlayTree = (
  base: readonly TreeFile[],
  overlay: readonly TreeFile[],
): TreeFile[] => {
  const replaced = new Set(overlay.map(({ path }) => path));
  return [...base.filter(({ path }) => !replaced.has(path)), ...overlay];
};

/** A tree as the API takes it. */
export const encodeTree = (tree: readonly TreeFile[]): { path: string; content: string }[] =>
  tree.map(({ path, content }) => ({ path, content: Buffer.from(content).toString('base64') }));
