/**
 * Reads the host's token once, from standard input or from a file. The token is never in the environment or on the
 * command line, where other processes of the host's user, or clients of its container engine, could read it.
 */
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import { Secret } from '#runtime/secret.ts';

/** Maximum wait for the token, in milliseconds. The launcher writes it at once, and a host cannot work without it. */
const patienceMs = 10_000;
/** Maximum length of a token, in bytes. */
const mostBytes = 4_096;

/** Reads the first line of a stream and closes it. Discards what was read beyond that line. */
const readLine = async (input: Readable): Promise<string> => {
  let text = '';
  const timer = setTimeout(() => input.destroy(), patienceMs);
  try {
    for await (const chunk of input) {
      text += String(chunk);
      if (text.includes('\n') || text.length > mostBytes) break;
    }
  } catch (cause) {
    if (!input.destroyed) throw cause;
  } finally {
    clearTimeout(timer);
    input.destroy();
  }
  return text.split('\n', 1)[0] ?? '';
};

/** Reads the token from the place that `SVC_HOST_TOKEN_FILE` names: `-` is standard input. Throws `unavailable`. */
export const readToken = async (
  place: string,
  input: () => Readable = () => process.stdin,
): Promise<Secret> => {
  const text = place === '-' ? await readLine(input()) : await readFile(place, 'utf8');
  const token = text.trim();
  if (token !== '') return new Secret(token);
  const where = place === '-' ? 'standard input' : place;
  throw new AppError(
    'unavailable',
    `there is no token on ${where}: the program that starts the host must write the token there`,
  );
};
