/** Reads an OpenAPI document from a file, YAML or JSON, with the files that it refers to. */
import { bundle, createConfig } from '@redocly/openapi-core';
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';

/** Throws `invalid` where it is no such document, or refers to what is not there. */
export const readOpenApi = async (
  path: string,
  shown: string,
): Promise<Record<string, unknown>> => {
  const refuse = (why: string, cause?: unknown): AppError =>
    new AppError('invalid', `${shown} is no OpenAPI document: ${why}`, { cause });
  let found: Awaited<ReturnType<typeof bundle>>;
  try {
    found = await bundle({ ref: path, config: await createConfig({}) });
  } catch (error) {
    throw refuse(
      error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'it cannot be read',
      error,
    );
  }
  const broken = found.problems.find(({ severity }) => severity === 'error');
  if (broken !== undefined) throw refuse(broken.message);
  const { parsed } = found.bundle;
  if (!isObject(parsed) || !isObject(parsed.paths)) throw refuse('it has no "paths"');
  return parsed;
};
