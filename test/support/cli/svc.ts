/**
 * The `svc` command as a real process of a test, with an environment that names no service. A command that keeps
 * running (`up`, `demo`) is observed by its output.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import { until } from '#runtime/pause.ts';

const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

export type Ended = { status: number | null; out: string; err: string };

export type Svc = {
  pid: number;
  out(): string;
  err(): string;
  /**
   * Resolves when the command has printed the text. Throws, with the command's whole output, if the command ends
   * before.
   */
  prints(text: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the command has ended. */
  ended(): Promise<Ended>;
};

const printTimeoutMs = 150_000;

const collect = (child: ChildProcess) => {
  const written = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    written.out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    written.err += chunk.toString();
  });
  return written;
};

/** Starts a command line. */
export const startSvc = (words: string[], env: Record<string, string> = {}): Svc => {
  const child = spawn(process.execPath, [main, ...words], {
    cwd: '/',
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      ...codeCacheEnv(),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = collect(child);
  const closed = once(child, 'close');
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid as number,
    out: () => written.out,
    err: () => written.err,
    async prints(text) {
      await until(() => written.out.includes(text) || hasEnded(), {
        timeoutMs: printTimeoutMs,
        what: `svc prints "${text}" after "${written.out}"`,
      });
      if (written.out.includes(text)) return;
      throw new Error(`svc ended before it printed "${text}":\n${written.out}\n${written.err}`);
    },
    signal: (name) => void child.kill(name),
    async ended() {
      await closed;
      return { status: child.exitCode, ...written };
    },
  };
};

/** Runs a command line to its end. */
export const runSvc = (words: string[], env?: Record<string, string>): Promise<Ended> =>
  startSvc(words, env).ended();
