/** Reads the test files of a version, which are sent with the call because hosts do not load them with the world. */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { Parts } from '../../parts.ts';

const folder = 'tests/';
/** Maximum size of all test files as JSON, in bytes. It leaves 64 KiB of a call's input for the rest of the input. */
const mostBytes = limits.callInputBytes - 64 * 1024;

const tooLarge = (bytes: number): AppError =>
  new AppError(
    'invalid',
    `the files in ${folder} have ${bytes} bytes as JSON, more than the maximum of ${mostBytes}`,
  );

/**
 * Returns the texts of the files in the folder `tests/` by their paths. Throws `invalid` for files that are no text,
 * and if all files together are too large.
 */
export const readTestFiles = async (
  { blobs, versions }: Parts,
  versionId: string,
): Promise<Record<string, string>> => {
  const files = (await versions.get(versionId))?.files ?? [];
  const tests = files.filter(({ path }) => path.startsWith(folder));
  const bytes = tests.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > mostBytes) throw tooLarge(bytes);
  const texts: Record<string, string> = {};
  for (const { path, sha256 } of tests) {
    const content = Buffer.from(await blobs.get(sha256));
    const text = content.toString('utf8');
    if (!Buffer.from(text).equals(content)) {
      throw new AppError('invalid', `${path} is not UTF-8 text, as files in ${folder} must be`);
    }
    texts[path] = text;
  }
  const written = Buffer.byteLength(JSON.stringify(texts));
  if (written > mostBytes) throw tooLarge(written);
  return texts;
};
