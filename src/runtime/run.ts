/**
 * The life of a program's process: start, run until told to stop, stop within a deadline.
 *
 * A program is told to stop by SIGINT or SIGTERM, or by the end of the process that started it when
 * that one opened an IPC channel (`svc up` does, so that nothing outlives it, even by `kill -9`).
 */
import { describeError } from '#domain/error.ts';
import { makeLinesVisible } from '#domain/visible-text.ts';

export type Running = {
  /** Stops taking work, finishes what is under way, releases everything. */
  stop(): Promise<void>;
  /**
   * Resolves when the program has nothing left to do and is to be stopped, rejects when it cannot go on;
   * absent: it runs on.
   */
  ended?: Promise<void>;
  /** The program's own stop deadline in milliseconds, where its configuration decides on it. */
  stopDeadlineMs?: number;
};

export type RunOptions = {
  /** Milliseconds after which a stop that has not ended is cut off with exit status 1. */
  stopDeadlineMs: number;
};

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** Whoever read what the program says may be gone; that is no reason to end without stopping. */
const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error;
};

/** Waits until the program is told to stop or ends by itself; false, with a line, when it cannot go on. */
const untilDone = async (stopRequest: Promise<void>, ended: Running['ended']): Promise<boolean> => {
  try {
    await Promise.race([stopRequest, ...(ended === undefined ? [] : [ended])]);
    return true;
  } catch (error) {
    process.stderr.write(`${makeLinesVisible(describeError(error))}\n`);
    return false;
  }
};

/** Runs a program. A failure, to start or later, prints one line and exits with status 1. */
export const runProgram = async (
  start: () => Promise<Running>,
  { stopDeadlineMs }: RunOptions,
): Promise<void> => {
  const stopRequest = Promise.withResolvers<void>();
  for (const signal of stopSignals) process.on(signal, () => stopRequest.resolve());
  if (process.channel !== undefined) process.on('disconnect', () => stopRequest.resolve());
  process.stdout.on('error', ignoreClosedPipe);
  let running: Running;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${makeLinesVisible(describeError(error))}\n`);
    process.exit(1);
  }
  process.channel?.unref();
  const isDone = await untilDone(stopRequest.promise, running.ended);
  setTimeout(() => process.exit(1), running.stopDeadlineMs ?? stopDeadlineMs).unref();
  try {
    await running.stop();
    process.exit(isDone ? 0 : 1);
  } catch (error) {
    process.stderr.write(`stopping failed: ${makeLinesVisible(describeError(error))}\n`);
    process.exit(1);
  }
};
