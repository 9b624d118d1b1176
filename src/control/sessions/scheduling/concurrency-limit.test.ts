import { expect, it } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/** Creates a limit with a fake clock. */
const start = () => {
  let nowMs = 0;
  const limit = createConcurrencyLimit(() => nowMs);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return {
    ...limit,
    pass,
    /** Opens and serves sessions one after another. Each takes `tookMs`, and `restMs` pass before the next. */
    serve(count: number, tookMs: number, restMs = 0) {
      for (let nth = 0; nth < count; nth += 1) {
        limit.noteRequest();
        const end = limit.begin('prj-1');
        pass(tookMs);
        end(true);
        pass(restMs);
      }
    },
    /** Returns the number of opens that one project may have in flight. */
    most(): number {
      const ends = [];
      while (!limit.isFull('prj-1') && ends.length < 100) ends.push(limit.begin('prj-1'));
      for (const end of ends) end(false);
      return ends.length;
    },
  };
};

it('any number of opens may be in flight without overload', () => {
  expect(start().most()).toBe(100);
});

it.each([
  ['is served one at a time', 10, 0, 2],
  ['takes 40 ms and 100 are served per second', 40, 100, 6],
  ['was never measured', 0, 0, 2],
])(
  'if an open %s, the opens in flight are limited to 1.5 times the number that the throughput needs',
  (_, tookMs, perSecond, most) => {
    const { serve, begin, markOverload, pass, most: mostNow } = start();
    if (tookMs > 0) serve(64, tookMs);
    markOverload();
    // Several at once, to reach this throughput.
    for (let nth = 0; nth < perSecond; nth += 1) {
      const end = begin('prj-1');
      pass(1_000 / perSecond);
      end(true);
      markOverload();
    }
    expect(mostNow()).toBe(most);
  },
);

it('durations measured under overload do not count as durations of opens that run alone', () => {
  const { serve, markOverload, pass, most } = start();
  serve(64, 10);
  for (let nth = 0; nth < 64; nth += 1) {
    markOverload();
    serve(1, 200);
  }
  pass(2_000);
  markOverload();
  serve(100, 1);
  expect(most()).toBe(2);
});

it('a project without an open in flight never reaches the limit', () => {
  const { markOverload, begin, isFull } = start();
  markOverload();
  begin('prj-1');
  begin('prj-1');
  expect([isFull('prj-1'), isFull('prj-2')]).toEqual([true, false]);
});

it('overload lasts until one second after demand last exceeded throughput', () => {
  const { serve, markOverload, noteRequest, noteRefusal, pass, isOverloaded } = start();
  serve(100, 10);
  markOverload();
  for (let nth = 0; nth < 20; nth += 1) {
    serve(10, 10);
    noteRequest();
    noteRefusal();
  }
  expect(isOverloaded()).toBe(true);
  pass(999);
  expect(isOverloaded()).toBe(true);
  pass(1);
  expect(isOverloaded()).toBe(false);
});

it('overload ends when demand is low, although single opens are still refused', () => {
  const { serve, markOverload, noteRequest, noteRefusal, isOverloaded } = start();
  serve(100, 10);
  markOverload();
  serve(20, 10, 40);
  for (let nth = 0; nth < 10; nth += 1) {
    serve(1, 10, 40);
    noteRequest();
    noteRefusal();
  }
  expect(isOverloaded()).toBe(false);
});
