/**
 * Handles stop requests of long-running commands. The first SIGINT, SIGTERM or SIGHUP requests an orderly end; the
 * death of a parent process that is connected by an IPC channel does the same. A later signal forces the end. Terminals
 * and package managers may deliver one Ctrl-C twice, so signals within half a second count as one.
 */
import { AppError } from '#domain/error.ts';

export type Stopping = {
  /** Aborts at the first stop request. Its reason is an `AppError` with the exit status in its detail. */
  signal: AbortSignal;
  /** Resolves at the second stop request. */
  forced: Promise<void>;
  /** Stops handling signals, which then have their default effect again. */
  release(): void;
};

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof numbers;
const sameMs = 500;

/** Builds the abort reason with which a stop request ends the running work. */
export const interruption = (name: StopSignal): AppError =>
  new AppError('unavailable', 'interrupted', { detail: { exitStatus: 128 + numbers[name] } });

/**
 * Returns the error to report for a failed command. If the command was stopped, returns the reason of the stop, since
 * other errors may only follow from the stop.
 */
export const stopReason = ({ signal }: Pick<Stopping, 'signal'>, error: unknown): unknown =>
  signal.aborted ? signal.reason : error;

/** Starts listening for signals. */
export const listenForStop = (): Stopping => {
  const interrupted = new AbortController();
  const forced = Promise.withResolvers<void>();
  let toldAt = 0;
  const onSignal = (name: NodeJS.Signals): void => {
    if (!interrupted.signal.aborted) {
      toldAt = performance.now();
      interrupted.abort(interruption(name as StopSignal));
    } else if (performance.now() - toldAt > sameMs) forced.resolve();
  };
  const names = Object.keys(numbers) as StopSignal[];
  const onDisconnect = (): void => onSignal('SIGHUP');
  for (const name of names) process.on(name, onSignal);
  process.on('disconnect', onDisconnect);
  process.channel?.unref();
  return {
    signal: interrupted.signal,
    forced: forced.promise,
    release() {
      for (const name of names) process.off(name, onSignal);
      process.off('disconnect', onDisconnect);
      // If other code listens to messages of the parent, the channel keeps the process alive again, as before.
      if (process.listenerCount('message') > 0) process.channel?.ref();
    },
  };
};
