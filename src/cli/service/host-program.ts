/** Programs of the world host that a command starts for itself, as child processes that end with this one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import type { Env } from '#runtime/env.ts';
import type { ProgramLine } from '#wire/program-lines/lines.ts';
import { readProgramLine } from '#wire/program-lines/read.ts';

export type HostProgram = {
  child: ChildProcess;
  /** Resolves when it has ended; rejects with its last words when it was not told to, and failed. */
  ended: Promise<void>;
  stop(): Promise<void>;
};

export type HostProgramOptions = {
  /** Its main file, below the folder of the world host. */
  main: 'folder/main.ts' | 'regrade/main.ts';
  /** What it is, for who reads that it ended. */
  what: string;
  /** The environment of this process, of which it gets what it reads, and what else it gets. */
  env: Env;
  own: Readonly<Record<string, string>>;
  /** Told each line that it says. */
  hear(line: ProgramLine): void;
};

/** What it reads of the environment of whoever starts it. */
const passedOn = [
  'PATH',
  'HOME',
  'TMPDIR',
  'SVC_PYTHON',
  'SVC_USER_CODE_BOUNDARY',
  'SVC_LOG_LEVEL',
];

const keptChars = 4_096;

const folder = new URL('../../../world-host-image/', import.meta.url);

/** Starts it. */
export const startHostProgram = ({
  main,
  what,
  env,
  own,
  hear,
}: HostProgramOptions): HostProgram => {
  const passed = passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  const child = spawn(
    process.execPath,
    ['--disable-sigusr1', fileURLToPath(new URL(main, folder))],
    {
      env: { ...Object.fromEntries(passed), ...codeCacheEnv(), ...own },
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C is for this process, which stops it.
      detached: true,
    },
  );
  let words = '';
  let isStopping = false;
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-keptChars);
  });
  // It may end while something is being written to it; `ended` tells why.
  child.stdin?.on('error', () => undefined);
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = readProgramLine(text);
      if (line !== undefined) hear(line);
    });
  }
  const ended = once(child, 'close').then(([status]) => {
    if (isStopping || status === 0) return;
    const last = words.trim().split('\n').at(-1) ?? '';
    throw new AppError('unavailable', `${what} ended: ${last}`);
  });
  return {
    child,
    ended,
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      await ended;
    },
  };
};
