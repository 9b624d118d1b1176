/** The loops that run in a program, by which their last ticks are shown. Loops that ended leave. */
import type { Loop, LoopStatus } from './loop.ts';

/** A loop as far as it is looked at. */
export type LoopView = Pick<Loop<unknown>, 'status'>;

export type LoopBoard = {
  /** Shows a loop until it has been stopped, and gives it back. */
  show<Shown extends LoopView>(loop: Shown): Shown;
  statuses(): LoopStatus<unknown>[];
};

/** An empty board. */
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
