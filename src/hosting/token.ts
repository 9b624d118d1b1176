/**
 * How a host gets its token: on its standard input or from a file, read once. It is in no environment and
 * on no command line, where whoever shares the host's user, or asks its container engine, could read it.
 */
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import { Secret } from '#runtime/secret.ts';

/** Whoever starts a host hands the token over at once; without one it is of no use. */
const patienceMs = 10_000;
/** No token is so long. */
const mostBytes = 4_096;

/** The first line of a stream, which is closed then; what was read of the rest is thrown away. */
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

/** The token from where `SVC_HOST_TOKEN_FILE` says: `-` is standard input. Throws `unavailable`. */
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
    `there is no token on ${where}: whoever starts a host gives it`,
  );
};
