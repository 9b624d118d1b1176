/** Runs commands for tests, with readable failures. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

type Failure = Error & {
  code?: number | string;
  signal?: string;
  killed?: boolean;
  stdout?: string;
  stderr?: string;
};

const ending = ({ code, signal, killed }: Failure, timeoutMs: number): string => {
  if (killed) return `was ended after ${timeoutMs} ms`;
  return signal ? `was ended by ${signal}` : `ended with ${code}`;
};

/**
 * Returns a command's standard output. A failure's message has the command's exit and the end of its output. Of its
 * arguments it has only the beginning, since whole programs are passed as arguments.
 */
export const outputOf = async (
  command: string,
  words: readonly string[],
  timeoutMs = 55_000,
): Promise<string> => {
  try {
    return (await run(command, words, { timeout: timeoutMs })).stdout;
  } catch (error) {
    const failure = error as Failure;
    const begins = [command, ...words].join(' ').slice(0, 100);
    const last = `${failure.stdout ?? ''}${failure.stderr ?? ''}`.trim().slice(-2_000);
    throw new Error(`"${begins}" ${ending(failure, timeoutMs)}: ${last || 'it said nothing'}`, {
      cause: failure.code === 'ENOENT' ? error : undefined,
    });
  }
};
