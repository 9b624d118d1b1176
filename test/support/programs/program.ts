/**
 * One program of the project as a real child process of a test. Its main.ts starts it, the JSON line that it prints
 * shows that it is up, and a signal stops it. Its log is kept, and shown when it fails.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import { pause } from '#runtime/pause.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Program = {
  pid: number;
  /** The JSON line with which it reported that it is up. */
  said: Record<string, unknown>;
  /** Sends the signal and resolves when the process has ended, with its exit status if it had one. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
  /** Resolves with its exit status when it has ended, by itself or by a signal (null). */
  ended: Promise<number | null>;
  log(): string;
};

const startTimeoutMs = 60_000;
const keptLogBytes = 200_000;

/**
 * Returns true for the line that a program prints once it is up; an orchestrator reports its sandbox and its pools
 * before.
 */
const isUp = (line: Record<string, unknown>): boolean => 'listening' in line || 'leading' in line;

const upLine = async (child: ChildProcess, main: string, log: () => string) => {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const up = Promise.withResolvers<Record<string, unknown>>();
  lines.on('line', (text) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    if (isUp(line)) up.resolve(line);
  });
  const over = new AbortController();
  const late = pause(startTimeoutMs, over.signal).then(() => {
    throw new AppError('timeout', `${main} is not up in ${startTimeoutMs} ms:\n${log()}`);
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new AppError('unavailable', `${main} exited with ${code} before it was up:\n${log()}`);
  });
  const said = await Promise.race([up.promise, late, ended]);
  over.abort();
  return said;
};

/**
 * Starts `main` (a path in the repository) with exactly this environment, plus PATH. If `logTo` is an open file, the
 * log goes there and is not stored here.
 */
export const startProgram = async (
  main: string,
  env: Record<string, string>,
  logTo?: number,
): Promise<Program> => {
  const child = spawn(process.execPath, [main], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      ...codeCacheEnv(),
      ...env,
    },
    stdio: ['ignore', 'pipe', logTo ?? 'pipe'],
  });
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-keptLogBytes);
  });
  const exited = once(child, 'exit');
  const said = await upLine(child, main, () => text).catch((error: unknown) => {
    child.kill('SIGKILL'); // so that the next program can use its address
    throw error;
  });
  return {
    pid: child.pid as number,
    said,
    ended: exited.then(() => child.exitCode),
    log: () => text,
    end: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await exited;
      }
      return child.exitCode;
    },
  };
};
