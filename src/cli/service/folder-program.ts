/**
 * The program that serves a folder, as a child process that ends with this one. It is given worlds on its standard
 * input and says on its standard output what becomes of them, and each request.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import type { Env } from '#runtime/env.ts';
import type { FolderWorld, ProgramLine } from '#wire/program-lines/lines.ts';
import { readProgramLine } from '#wire/program-lines/read.ts';

const main = fileURLToPath(new URL('../../../world-host-image/folder/main.ts', import.meta.url));

export type FolderProgram = {
  /** Serves this one from now on. */
  give(world: FolderWorld): void;
  /** Resolves when it has ended; rejects with its last words when it was not told to. */
  ended: Promise<void>;
  stop(): Promise<void>;
};

export type FolderProgramOptions = {
  env: Env;
  port: number;
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

/** Starts it. */
export const startFolderProgram = ({ env, port, hear }: FolderProgramOptions): FolderProgram => {
  const own = passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  const child = spawn(process.execPath, ['--disable-sigusr1', main], {
    env: { ...Object.fromEntries(own), ...codeCacheEnv(), SVC_LISTEN: `127.0.0.1:${port}` },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C is for this process, which stops it.
    detached: true,
  });
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
  const ended = once(child, 'close').then(() => {
    if (isStopping) return;
    const last = words.trim().split('\n').at(-1) ?? '';
    throw new AppError('unavailable', `the program that serves the folder ended: ${last}`);
  });
  return {
    give: (world) => void child.stdin?.write(`${JSON.stringify(world)}\n`),
    ended,
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      await ended;
    },
  };
};
