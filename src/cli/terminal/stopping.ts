/**
 * Being told to stop, for commands that run long: the first SIGINT, SIGTERM or SIGHUP, or the death
 * of the process that started this one over an IPC channel, asks for an orderly end; a later one
 * forces it. Terminals and package managers may deliver one Ctrl-C twice, so that what follows within
 * half a second counts as the same.
 */
import { AppError } from '#domain/error.ts';

export type Stopping = {
  /** Aborts when told to stop; its reason is an `AppError` with the exit status in its detail. */
  signal: AbortSignal;
  /** Resolves at the second request to stop. */
  forced: Promise<void>;
  /** Goes back to how signals end a process by themselves. */
  release(): void;
};

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof numbers;
const sameMs = 500;

/** The reason with which a stop aborts what is under way. */
export const interruption = (name: StopSignal): AppError =>
  new AppError('unavailable', 'interrupted', { detail: { exitStatus: 128 + numbers[name] } });

/** What a command that fails is told of: that it was stopped, if it was, whatever else broke off because of that. */
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
      // Whoever hears from the parent waits for it again, as before.
      if (process.listenerCount('message') > 0) process.channel?.ref();
    },
  };
};
