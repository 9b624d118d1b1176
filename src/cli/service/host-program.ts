/** Starts programs of the world host for a command. They are child processes that end with this process. */
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
  /** Resolves when the program has ended. Rejects with the program's last output if it failed without being stopped. */
  ended: Promise<void>;
  stop(): Promise<void>;
};

export type HostProgramOptions = {
  /** Path of the program's main file, below the folder of the world host. */
  main: 'folder/main.ts' | 'regrade/main.ts';
  /** Name of the program, for messages about its end. */
  what: string;
  /**
   * Environment of this process, and variables for this program alone. Of the former, the program gets only the
   * variables in `passedOn`.
   */
  env: Env;
  own: Readonly<Record<string, string>>;
  /** Called with each line that the program prints. */
  hear(line: ProgramLine): void;
};

/** Names of the variables in the user's environment that the program needs. */
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

/** Starts the program. */
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
      // Ctrl-C must only reach this process, which then stops the program.
      detached: true,
    },
  );
  let words = '';
  let isStopping = false;
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-keptChars);
  });
  // The program may end while its input is being written; `ended` reports the reason.
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
