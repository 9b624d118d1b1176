/**
 * Starts and stops one Chromium process. It has its own profile folder and is driven over its DevTools pipe (file
 * descriptors 3 and 4, JSON texts that end in NUL). Stopping it also ends every process that it started.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import { makeFolders } from '#runtime/folders.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import { chromiumFlags } from './flags.ts';

/** Texts to and from Chromium, one message each. */
export type Pipe = {
  send(text: string): void;
  /** Registers the listener called for each text, in order; set once, before anything is sent. */
  onText(listener: (text: string) => void): void;
};

export type Ending = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** True if Chromium was to run in its sandbox, and the machine does not support it. */
  hasNoSandbox: boolean;
};

export type Chromium = Pipe & {
  pid: number;
  /** Resolves when the process has ended, with the known cause. */
  ended: Promise<Ending>;
  /** Ends Chromium with all its processes, and removes its folder. */
  stop(): Promise<void>;
};

export type LaunchOptions = {
  path: string;
  /** Folder created for this Chromium and removed after it: profile, home and temporary files. */
  folder: string;
  proxy: string;
  window: { width: number; height: number };
  authority: string | undefined;
  isSandboxed: boolean;
  log: Log;
};

/** Number of characters of Chromium's standard error that are kept, for the message of a failed start. */
const keptErrorChars = 4_000;

/** Time to wait, after the process exits, for its last output, in milliseconds. */
const lastWordsMs = 500;

/** Text in Chromium's standard error when it cannot have a sandbox. */
const noSandbox = 'No usable sandbox';

/** Splits a byte stream at NUL characters. */
const readTexts = (stream: Readable, onText: (text: string) => void): void => {
  let parts: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, from)) {
      parts.push(chunk.subarray(from, end));
      from = end + 1;
      const text = Buffer.concat(parts).toString('utf8');
      parts = [];
      onText(text);
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
};

/** Kills a process with its group; a group that has already ended is no error. */
const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const spawnIn = ({ path, folder, ...flags }: LaunchOptions): ChildProcess =>
  spawn(path, chromiumFlags({ profile: join(folder, 'profile'), ...flags }), {
    cwd: folder,
    // None of the machine's own environment is passed: no home, no proxies, no display, no secrets.
    env: {
      HOME: folder,
      // Relative to the working directory, because a socket's path may have at most 108 characters.
      TMPDIR: 'tmp',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      PATH: '/usr/bin:/bin',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });

/**
 * Starts Chromium. If Chromium then fails to come up, `ended` resolves, and the first message is never answered.
 *
 * @throws `unavailable` when the program cannot be started at all.
 */
export const launchChromium = async (options: LaunchOptions): Promise<Chromium> => {
  const { folder, path, log } = options;
  await makeFolders(join(folder, 'tmp'));
  const child = spawnIn(options);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-keptErrorChars);
  });
  const exited = once(child, 'exit');
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new AppError('unavailable', `cannot start Chromium at ${path}`, { cause });
  });
  const pid = child.pid as number;
  const [, , , input, output] = child.stdio as unknown as [
    null,
    null,
    Readable,
    Writable,
    Readable,
  ];
  // A broken pipe means that the process is ending, which `ended` reports.
  for (const stream of [input, output]) stream.on('error', () => undefined);
  let hasEnded = false;
  const silent = once(child, 'close');
  const ended = exited.then(async ([code, signal]) => {
    hasEnded = true;
    killGroup(pid); // also ends what Chromium started
    await Promise.race([silent, pause(lastWordsMs)]);
    log.debug({ pid, code, signal, errors }, 'Chromium ended');
    return { code, signal, hasNoSandbox: errors.includes(noSandbox) };
  });
  return {
    pid,
    ended,
    send: (text) => void input.write(`${text}\0`),
    onText: (listener) => readTexts(output, listener),
    async stop() {
      if (!hasEnded) killGroup(pid);
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
};
