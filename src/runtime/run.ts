/**
 * Runs a program's process: starts the program, waits for a request to stop, and stops the program within a deadline.
 *
 * SIGINT or SIGTERM requests a stop. So does the end of the parent process, if the parent opened an IPC channel. `svc
 * up` opens one for each program, so that no program outlives `svc up`, even after `kill -9`.
 */
import { describeError } from '#domain/error.ts';
import { makeLinesVisible } from '#domain/visible-text.ts';

export type Running = {
  /** Stops accepting work, finishes the work in progress, and releases everything. */
  stop(): Promise<void>;
  /**
   * Resolves when the program has no work left and should stop; rejects when it cannot continue. Absent: it runs until
   * a stop is requested.
   */
  ended?: Promise<void>;
  /** Time limit for a stop of this program in milliseconds, if its configuration sets one. */
  stopDeadlineMs?: number;
};

export type RunOptions = {
  /** Time after which a stop is cut off with exit status 1, in milliseconds. */
  stopDeadlineMs: number;
};

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** Ignores the error that the reader of the program's output is gone, because the program must still stop in order. */
const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error;
};

/**
 * Waits until a stop is requested or the program ends by itself. If the program cannot continue, writes a line and
 * returns false.
 */
const untilDone = async (stopRequest: Promise<void>, ended: Running['ended']): Promise<boolean> => {
  try {
    await Promise.race([stopRequest, ...(ended === undefined ? [] : [ended])]);
    return true;
  } catch (error) {
    process.stderr.write(`${makeLinesVisible(describeError(error))}\n`);
    return false;
  }
};

/** Runs a program. If it fails, at the start or later, prints one line and exits with status 1. */
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
