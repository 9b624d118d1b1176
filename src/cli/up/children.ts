/**
 * Starts a program of the project as a child process. An IPC channel ends it when this process dies. Its own process
 * group keeps Ctrl-C from it. Its log goes to a file.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AppError } from '#domain/error.ts';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import { pause } from '#runtime/pause.ts';
import type { ProgramLine } from '#wire/program-lines/lines.ts';
import { readProgramLine } from '#wire/program-lines/read.ts';
import type { Started } from './keep.ts';

export type ChildOptions = {
  /** Name for messages: `control plane`. */
  name: string;
  /** Arguments of Node: the program's main file and its own arguments. */
  args: string[];
  env: Record<string, string>;
  logFile: string;
  /** Called with each line that the program prints. Returns true for the line that means that it is up. */
  hear(line: ProgramLine): boolean;
};

const startDeadlineMs = 60_000;
const logKeptBytes = 16 * 1024 * 1024;

const openLog = (file: string): number => {
  const isLarge = existsSync(file) && statSync(file).size > logKeptBytes;
  if (isLarge) renameSync(file, `${file}.old`);
  return openSync(file, 'a', 0o600);
};

/** Returns the last log line that is not structured, else the last line. */
const lastWords = (logFile: string, from: number): string => {
  const lines = readFileSync(logFile).subarray(from).toString('utf8').trim().split('\n');
  return lines.findLast((line) => !line.startsWith('{')) ?? lines.at(-1) ?? '';
};

const whenEnded = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });

/** Returns true if the promise settles in time. Leaves no timer behind. */
const settlesWithin = async (promise: Promise<void>, ms: number): Promise<boolean> => {
  const over = new AbortController();
  const settled = promise.then(() => true);
  const timeUp = pause(ms, over.signal).then(() => false);
  const result = await Promise.race([settled, timeUp]);
  over.abort();
  return result;
};

const spawnLogged = (options: ChildOptions): ChildProcess => {
  const log = openLog(options.logFile);
  try {
    // Without this, any process could open an inspector in the program with a signal (SIGUSR1).
    return spawn(process.execPath, ['--disable-sigusr1', ...options.args], {
      env: { ...codeCacheEnv(), ...options.env },
      stdio: ['ignore', 'pipe', log, 'ipc'],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
};

/** Resolves on the line that means that the child is up. Rejects if the child ends before, or after the deadline. */
const whenUp = (
  child: ChildProcess,
  options: ChildOptions,
  ended: Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const from = existsSync(options.logFile) ? statSync(options.logFile).size : 0;
  const timeUp = AbortSignal.timeout(startDeadlineMs);
  let isUp = false;
  return new Promise((resolve, reject) => {
    const fail = (code: 'unavailable' | 'timeout', why: string): void =>
      reject(
        new AppError(code, `the ${options.name} does not start: ${why}`, {
          detail: { hint: `its log has more: ${options.logFile}` },
        }),
      );
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (text) => {
        const line = readProgramLine(text);
        if (line === undefined || !options.hear(line)) return;
        isUp = true;
        resolve();
      });
    }
    ended.then(() => {
      if (!isUp) fail('unavailable', lastWords(options.logFile, from));
    });
    timeUp.addEventListener('abort', () => fail('timeout', `not up in ${startDeadlineMs} ms`));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
};

/**
 * Starts a child and resolves once it is up. Throws `unavailable` with its last log line if it ends before, or the
 * signal's reason.
 */
export const startChild = async (options: ChildOptions, signal: AbortSignal): Promise<Started> => {
  const child = spawnLogged(options);
  const ended = whenEnded(child);
  const stop = async (deadlineMs: number): Promise<boolean> => {
    child.kill('SIGTERM');
    if (!(await settlesWithin(ended, deadlineMs))) child.kill('SIGKILL');
    await ended;
    return child.exitCode === 0;
  };
  try {
    await whenUp(child, options, ended, signal);
  } catch (error) {
    await stop(1_000);
    throw error;
  }
  return { pid: child.pid ?? 0, ended, stop };
};
