/**
 * One Chromium process: started with a profile folder of its own, spoken to over its DevTools pipe (file descriptors
 * 3 and 4, JSON texts that end in NUL), and ended with everything that it started.
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

/** Texts to and from Chromium, each one message. */
export type Pipe = {
  send(text: string): void;
  /** Called for each text, in order; set once, before anything is sent. */
  onText(listener: (text: string) => void): void;
};

export type Ending = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The machine lets Chromium have no sandbox, and it was to have one. */
  hasNoSandbox: boolean;
};

export type Chromium = Pipe & {
  pid: number;
  /** Resolves when the process has ended, with what is known of why. */
  ended: Promise<Ending>;
  /** Ends it with all its processes, and removes the profile. */
  stop(): Promise<void>;
};

export type LaunchOptions = {
  path: string;
  /** A folder that is made for it and removed after it: profile, home and temporary files. */
  folder: string;
  proxy: string;
  window: { width: number; height: number };
  authority: string | undefined;
  isSandboxed: boolean;
  log: Log;
};

/** What Chromium writes on standard error is kept so far, for the message of a failed start. */
const keptErrorChars = 4_000;

/** What it wrote last may come so long after its end. */
const lastWordsMs = 500;

/** What Chromium says when it can have no sandbox. */
const noSandbox = 'No usable sandbox';

/** Cuts a stream of bytes at NUL characters. */
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

/** Ends a process with its group; that it has ended already is no failure. */
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
    // Nothing of the machine's own environment: no home, no proxies, no display, no secrets.
    env: {
      HOME: folder,
      // In its working directory: the path of a socket in it may have 108 characters in all.
      TMPDIR: 'tmp',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      PATH: '/usr/bin:/bin',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });

/**
 * Starts Chromium. It may still fail to come up: then `ended` resolves, and the first message is never answered.
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
  // A pipe that breaks belongs to a process that ends, and that is told by `ended`.
  for (const stream of [input, output]) stream.on('error', () => undefined);
  let hasEnded = false;
  const silent = once(child, 'close');
  const ended = exited.then(async ([code, signal]) => {
    hasEnded = true;
    killGroup(pid); // what it started goes with it
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
