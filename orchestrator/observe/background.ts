/**
 * Container steps under way: at most one a host, known by the host's name so that the planner leaves
 * that host alone. A step that failed keeps its host for a short pause, so that trying again is paced.
 */
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';

const retryPauseMs = 1_000;

export type Work = 'launch' | 'destroy';

export type Background = {
  readonly busy: ReadonlyMap<string, Work>;
  /** Begins a step. Its failure is logged here. */
  begin(hostId: string, work: Work, step: () => Promise<void>): void;
  /** Resolves when nothing is under way any more; pauses are cut short. */
  finish(): Promise<void>;
};

/** An empty background. `onSettled` is called at the end of each step. */
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

/** The backgrounds of the terms that one program leads: what one has begun may go on in the next. */
export type Backgrounds = {
  /** An empty one, for a term that begins. `onSettled` is called at the end of each of its steps. */
  open(onSettled: () => void): Background;
  /** Lets go of one whose term is over, as soon as nothing of it is under way. */
  release(background: Background): void;
  /** Resolves when nothing of any of them is under way. */
  finish(): Promise<void>;
  /** How many it has not let go of. */
  size(): number;
};

/** Has no background yet. */
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
