/**
 * One child process of user code: spawned at the head of a process group of its own, so that whatever
 * it starts dies with it, with its standard streams captured and a channel of lines beside them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { pause } from '#runtime/pause.ts';
import { createLineReader, type LineReaderOptions } from './lines.ts';
import type { OutputStream } from './output.ts';

export type Launch = {
  command: string;
  arguments: string[];
  /** The whole environment: nothing of the host's is passed on. */
  environment: Record<string, string>;
  directory: string;
};

/** How a process ended. `error`: it could not be started. */
export type ChildEnd = { status: number | null; signal: string | null; error?: Error };

export type ChildOptions = LineReaderOptions & {
  onOutput(stream: OutputStream, chunk: Buffer): void;
};

export type Child = {
  /** Undefined when it could not be started. */
  pid: number | undefined;
  /** Sends one line. To a dead process it is lost; `ended` reports the end. */
  send(line: string): void;
  /** Sends a signal to the process, if it is still there. */
  signal(signal: NodeJS.Signals): void;
  /** Kills the whole process group at once. */
  kill(): void;
  /** Resolves when the process is gone and its output has been read. */
  ended: Promise<ChildEnd>;
};

/** How long output may stay open after the process is gone, held by something it left behind. */
const lingerMs = 100;

const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const awaitEnd = async (child: ChildProcess): Promise<ChildEnd> => {
  const closed = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<ChildEnd>();
  child.on('close', () => closed.resolve());
  child.on('exit', (status, signal) => exited.resolve({ status, signal }));
  child.on('error', (error) => exited.resolve({ status: null, signal: null, error }));
  const end = await exited.promise;
  killGroup(child.pid);
  const lingering = new AbortController();
  await Promise.race([closed.promise, pause(lingerMs, lingering.signal)]);
  lingering.abort();
  for (const stream of child.stdio ?? []) stream?.destroy();
  return end;
};

type Streams = [null, Readable, Readable, Writable, Readable];

/** None where the process could not even be given pipes. */
const streamsOf = (child: ChildProcess): Streams | [] =>
  (child.stdio ?? []) as unknown as Streams | [];

/** Starts a process. It never throws: a process that cannot be started has ended with an error. */
export const startChild = (launch: Launch, options: ChildOptions): Child => {
  const child = spawn(launch.command, launch.arguments, {
    cwd: launch.directory,
    env: launch.environment,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const [, stdout, stderr, toChild, fromChild] = streamsOf(child);
  stdout?.on('data', (chunk: Buffer) => options.onOutput('stdout', chunk));
  stderr?.on('data', (chunk: Buffer) => options.onOutput('stderr', chunk));
  fromChild?.on('data', createLineReader(options));
  for (const stream of [stdout, stderr, toChild, fromChild]) {
    // A broken pipe only says that the process is going; how it went is told by its exit.
    stream?.on('error', () => undefined);
  }
  return {
    pid: child.pid,
    send: (line) => void toChild?.write(`${line}\n`),
    signal: (signal) => void child.kill(signal),
    kill() {
      // Once it is reaped, its number may be another's.
      if (child.exitCode === null && child.signalCode === null) killGroup(child.pid);
    },
    ended: awaitEnd(child),
  };
};

/** How a process ended, in words: `exit status 3`, `signal SIGSEGV`. */
export const describeEnd = ({ status, signal, error }: ChildEnd): string => {
  if (error !== undefined) return error.message;
  return signal === null ? `exit status ${status}` : `signal ${signal}`;
};
