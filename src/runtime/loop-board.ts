/**
 * Board of the loops that run in a program, with the last tick of each loop. Loops that have ended are removed from the
 * board.
 */
import type { Loop, LoopStatus } from './loop.ts';

/** Part of a loop that the board displays. */
export type LoopView = Pick<Loop<unknown>, 'status'>;

export type LoopBoard = {
  /** Adds a loop to the board until the loop is stopped; returns the loop. */
  show<Shown extends LoopView>(loop: Shown): Shown;
  statuses(): LoopStatus<unknown>[];
};

/** Creates an empty board. */
export const createLoopBoard = (): LoopBoard => {
  let shown: LoopView[] = [];
  const running = () => shown.filter((loop) => !loop.status().isStopped);
  return {
    show(loop) {
      shown = [...running(), loop];
      return loop;
    },
    statuses: () => running().map((loop) => loop.status()),
  };
};
