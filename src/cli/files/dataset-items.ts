/** Reads items of datasets and other JSON from a user's options and files. */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { DatasetItemBody } from '#wire/public-api/evaluation/dataset.ts';
import type { Context } from '../terminal/context.ts';
import { parseJson, readText } from './input.ts';

/** Reads JSON given as text, as `@file`, or as `-` for standard input. */
export const readJson = async (context: Context, given: string, option: string): Promise<unknown> =>
  parseJson(
    await readText(context, given),
    given === '-' || given.startsWith('@') ? given : option,
  );

/**
 * Parses the JSON of an option, and returns it as one member of an object. Returns no member if the option is absent.
 */
export const readMember = async <const Name extends string>(
  context: Context,
  name: Name,
  text: string | undefined,
): Promise<{ [Key in Name]?: unknown }> =>
  (text === undefined ? {} : { [name]: await readJson(context, text, `--${name}`) }) as {
    [Key in Name]?: unknown;
  };

/** Reads the items of a JSONL file. Throws `invalid` with the line of the first mistake, before any item is used. */
export const parseItems = async (
  context: Context,
  file: string,
): Promise<Omit<DatasetItemBody, 'datasetName'>[]> => {
  const text = await readText(context, file === '-' ? file : `@${file}`);
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const item = parseJson(line, `line ${index + 1} of ${file}`);
    if (isObject(item)) return [item];
    throw new AppError('invalid', `line ${index + 1} of ${file} is not an object`);
  });
};
