/**
 * Programs of an installation that a killed `svc up` left behind. They end by themselves when their
 * IPC channel closes; the next `up` waits for that, so that two generations never work at once.
 */
import { pause } from '#runtime/pause.ts';
import { commandLine, findProcesses, isRunning, sendSignal } from './processes.ts';

const graceMs = 8_000;

const find = (installation: string): number[] =>
  findProcesses(installation).filter((pid) => commandLine(pid).startsWith('svc '));

/** Resolves when none of them runs; after the grace they are killed. Answers how many there were. */
export const endLeftOvers = async (installation: string, signal: AbortSignal): Promise<number> => {
  const found = find(installation);
  const endsAt = performance.now() + graceMs;
  while (found.some(isRunning) && performance.now() < endsAt) {
    await pause(25, signal);
    signal.throwIfAborted();
  }
  for (const pid of find(installation)) sendSignal(pid, 'SIGKILL');
  return found.length;
};
