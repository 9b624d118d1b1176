/**
 * Starts one child process of user code. The child leads a process group of its own, so all processes that it starts
 * are killed with it. Its standard streams are captured, and messages use separate pipes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { pause } from '#runtime/pause.ts';
import { createLineReader, type LineReaderOptions } from './lines.ts';
import type { OutputStream } from './output.ts';

export type Launch = {
  command: string;
  arguments: string[];
  /** Complete environment of the process; no variables of the host are passed on. */
  environment: Record<string, string>;
  directory: string;
};

/** End of a process. `error` is set if it could not be started. */
export type ChildEnd = { status: number | null; signal: string | null; error?: Error };

export type ChildOptions = LineReaderOptions & {
  onOutput(stream: OutputStream, chunk: Buffer): void;
};

export type Child = {
  /** Process id; undefined if the process could not be started. */
  pid: number | undefined;
  /** Sends one line to the process. If the process has ended, the line is lost; `ended` reports the end. */
  send(line: string): void;
  /** Sends a signal to the process, if it still runs. */
  signal(signal: NodeJS.Signals): void;
  /** Kills the whole process group at once. */
  kill(): void;
  /** Resolves when the process has ended and its output has been read. */
  ended: Promise<ChildEnd>;
};

/**
 * Maximum delay, in milliseconds, between the end of the process and `ended`, if its descendants still hold the output
 * pipes open.
 */
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

/** Returns the process's streams; an empty list if the process could not be given pipes. */
const streamsOf = (child: ChildProcess): Streams | [] =>
  (child.stdio ?? []) as unknown as Streams | [];

/** Starts a process. Never throws: a process that cannot be started ends with an error. */
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
    // A broken pipe only means that the process is ending; its exit reports how.
    stream?.on('error', () => undefined);
  }
  return {
    pid: child.pid,
    send: (line) => void toChild?.write(`${line}\n`),
    signal: (signal) => void child.kill(signal),
    kill() {
      // Once the process is reaped, its id may belong to another process.
      if (child.exitCode === null && child.signalCode === null) killGroup(child.pid);
    },
    ended: awaitEnd(child),
  };
};

/** Describes how a process ended: `exit status 3`, `signal SIGSEGV`. */
export const describeEnd = ({ status, signal, error }: ChildEnd): string => {
  if (error !== undefined) return error.message;
  return signal === null ? `exit status ${status}` : `signal ${signal}`;
};
