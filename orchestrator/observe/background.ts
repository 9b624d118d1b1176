/**
 * Container steps that run in the background, by the id of their host. A host has at most one step at a time, and the
 * planner leaves it alone meanwhile. After a failed step the host stays busy for a short pause, which paces retries.
 */
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';

const retryPauseMs = 1_000;

export type Work = 'launch' | 'destroy';

export type Background = {
  readonly busy: ReadonlyMap<string, Work>;
  /** Begins a step; if it fails, logs the failure. */
  begin(hostId: string, work: Work, step: () => Promise<void>): void;
  /** Resolves when no step runs any more; cuts pauses short. */
  finish(): Promise<void>;
};

/** Creates a background without steps. Calls `onSettled` at the end of each step. */
const createBackground = (log: Log, onSettled: () => void): Background => {
  const busy = new Map<string, Work>();
  const running = new Set<Promise<void>>();
  const finishing = new AbortController();

  const run = async (hostId: string, work: Work, step: () => Promise<void>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      log.warn({ err: error, hostId }, `${work} failed`);
      await pause(retryPauseMs, finishing.signal);
    } finally {
      busy.delete(hostId);
      onSettled();
    }
  };

  return {
    busy,
    begin(hostId, work, step) {
      busy.set(hostId, work);
      const ended = run(hostId, work, step).finally(() => running.delete(ended));
      running.add(ended);
    },
    async finish() {
      finishing.abort();
      await Promise.all(running);
    },
  };
};

/** Backgrounds of all terms in which this program leads; a step begun in one term may continue in the next. */
export type Backgrounds = {
  /** Opens a background for a new term. Calls `onSettled` at the end of each of its steps. */
  open(onSettled: () => void): Background;
  /** Releases the background of an ended term, as soon as none of its steps runs. */
  release(background: Background): void;
  /** Resolves when no step of any background runs. */
  finish(): Promise<void>;
  /** Returns the number of backgrounds that are not released yet. */
  size(): number;
};

/** Creates an empty set of backgrounds. */
export const createBackgrounds = (log: Log): Backgrounds => {
  const held = new Set<Background>();
  return {
    open(onSettled) {
      const background = createBackground(log, onSettled);
      held.add(background);
      return background;
    },
    release(background) {
      void background.finish().then(() => held.delete(background));
    },
    async finish() {
      await Promise.all([...held].map((background) => background.finish()));
    },
    size: () => held.size,
  };
};
