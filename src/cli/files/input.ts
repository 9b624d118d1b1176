/**
 * Reads what a user names in a command: JSON as text, `@file` or `-` for standard input; files of rows; a folder as a
 * world tree. Mistakes are reported as `invalid`, with the name of the file.
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

/** Parses JSON that a user gave. Throws `invalid`, which names the source of the text. */
export const parseJson = (text: string, what: string): unknown => {
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch (cause) {
    throw new AppError('invalid', `${what} is not JSON`, { cause });
  }
};

/** Returns the text itself, the contents of `@file`, or standard input for `-`. */
export const readText = async (context: Context, given: string): Promise<string> => {
  if (given === '-') return (await context.readStdin()).toString();
  return given.startsWith('@') ? readUserFile(context, given.slice(1)).toString() : given;
};

/** Reads a JSON object given as text, as `@file`, or as `-` for standard input. */
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

/** Adds the source text of a solution's script, which is a file in the folder of the task file or below it. */
const withSource = (context: Context, folder: string, solution: unknown): unknown => {
  if (!isObject(solution) || typeof solution.script !== 'string') return solution;
  const file = join(folder, solution.script);
  const language = scriptLanguage(file);
  if (language === undefined) {
    throw new AppError(
      'invalid',
      `the script of a solution must be a .py or .ts file, not ${file}`,
    );
  }
  const source = readNamedFile(resolve(context.cwd, folder), solution.script, file).toString();
  return { ...solution, script: { language, source } };
};

/** Reads a task from a file, or from standard input for `-`. Removes `$schema`, which is only for editors. */
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

/** Returns the stats of a path that the user named; undefined if it does not exist or cannot be accessed. */
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
 * Returns true if a text is written as a path. A path means a folder, whether it exists or not; any other text means a
 * template or a world. A command therefore means the same in every working folder.
 */
export const namesFolder = (text: string): boolean => /^[.~]|[/\\]/.test(text);

/** Writes the name of a folder as a path that `namesFolder` accepts. */
export const asPath = (folder: string): string => (namesFolder(folder) ? folder : `./${folder}`);

/**
 * Runs the work for a name. If the work fails and a folder of this name exists, the error explains how to name the
 * folder.
 */
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
    const hint = `to name the folder here, write ${asPath(name)}`;
    const hints = [detail.hint, hint].filter((part) => typeof part === 'string');
    throw new AppError(code, message, {
      detail: { ...detail, hint: hints.join('; ') },
      fields,
      cause: error.cause,
    });
  }
};

/** Name of a tree's file with the patterns of files to exclude, as in a .gitignore. */
const ignoreFile = '.svcignore';

const readIgnored = (context: Context, folder: string): ((path: string) => boolean) => {
  const path = join(folder, ignoreFile);
  if (statOf(context, path) === undefined) return () => false;
  const patterns = ignore({ ignorecase: false }).add(
    withoutByteOrderMark(readUserFile(context, path).toString()),
  );
  return (candidate) => patterns.ignores(candidate);
};

/** Reads a folder as a world tree, sorted by path. Excludes hidden files, caches and files that .svcignore lists. */
export const readTree = (context: Context, folder: string): TreeFile[] => {
  if (!isFolder(context, folder)) {
    const isThere = statOf(context, folder) !== undefined;
    const message = isThere ? `${folder} is not a folder` : `there is no folder ${folder}`;
    throw new AppError('invalid', message);
  }
  const ignored = readIgnored(context, folder);
  return readFolder(resolve(context.cwd, folder), folder, limits, ignored);
};

/** Overlays a tree on another: its files replace those with the same path. */
export const overlayTree = (
  base: readonly TreeFile[],
  overlay: readonly TreeFile[],
): TreeFile[] => {
  const replaced = new Set(overlay.map(({ path }) => path));
  return [...base.filter(({ path }) => !replaced.has(path)), ...overlay];
};

/** Encodes a tree for the API. */
export const encodeTree = (tree: readonly TreeFile[]): { path: string; content: string }[] =>
  tree.map(({ path, content }) => ({ path, content: Buffer.from(content).toString('base64') }));
