/** Board of the loops that run in a program; it shows the last tick of each. It drops loops that have ended. */
import type { Loop, LoopStatus } from './loop.ts';

/** Part of a loop that the board shows. */
export type LoopView = Pick<Loop<unknown>, 'status'>;

export type LoopBoard = {
  /** Shows a loop on the board until the loop is stopped; returns the loop. */
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
