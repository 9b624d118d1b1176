/**
 * Starts a program of the project as a child process. An IPC channel ends the program when this process dies. The
 * program has a process group of its own, so that Ctrl-C does not reach it. Its log goes to a file.
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
  /** Name of the program in messages, such as `control plane`. */
  name: string;
  /** Arguments of Node: the program's main file and the program's own arguments. */
  args: string[];
  env: Record<string, string>;
  logFile: string;
  /** Called with each line that the program prints. Returns true for the line which means that the program is up. */
  hear(line: ProgramLine): boolean;
};

const startDeadlineMs = 60_000;
const logKeptBytes = 16 * 1024 * 1024;

const openLog = (file: string): number => {
  const isLarge = existsSync(file) && statSync(file).size > logKeptBytes;
  if (isLarge) renameSync(file, `${file}.old`);
  return openSync(file, 'a', 0o600);
};

/** Returns the last line of a log that is not structured; if there is none, the last line. */
const lastWords = (logFile: string, from: number): string => {
  const lines = readFileSync(logFile).subarray(from).toString('utf8').trim().split('\n');
  return lines.findLast((line) => !line.startsWith('{')) ?? lines.at(-1) ?? '';
};

const whenEnded = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });

/** Returns true if the promise settles in time. Clears its timer in any case. */
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

/**
 * Resolves on the line which means that the child is up. Rejects if the child ends before that line, or the deadline
 * passes.
 */
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
        new AppError(code, `the ${options.name} did not start: ${why}`, {
          detail: { hint: `see its log for more: ${options.logFile}` },
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
    timeUp.addEventListener('abort', () =>
      fail('timeout', `it was not up within ${startDeadlineMs} ms`),
    );
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
};

/**
 * Starts a child and resolves once it is up. If the child ends before that, throws `unavailable` with its last log
 * line. If the signal aborts, throws its reason.
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
