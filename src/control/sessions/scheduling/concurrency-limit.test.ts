import { expect, it } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/** Creates a limit with a fake clock. */
const start = () => {
  let nowMs = 0;
  const pace = createConcurrencyLimit(() => nowMs);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return {
    ...pace,
    pass,
    /** Opens and serves sessions one after another, each in `tookMs`; the next follows after `restMs`. */
    serve(count: number, tookMs: number, restMs = 0) {
      for (let nth = 0; nth < count; nth += 1) {
        pace.ask();
        const end = pace.begin('prj-1');
        pass(tookMs);
        end(true);
        pass(restMs);
      }
    },
    /** Returns the number of opens that one project may have in flight. */
    most(): number {
      const ends = [];
      while (!pace.isFull('prj-1') && ends.length < 100) ends.push(pace.begin('prj-1'));
      for (const end of ends) end(false);
      return ends.length;
    },
  };
};

it('any number is under way where what is asked for is borne', () => {
  expect(start().most()).toBe(100);
});

it.each([
  ['is served one at a time', 10, 0, 2],
  ['takes 40 ms, 100 of which are served in a second', 40, 100, 6],
  ['was never seen', 0, 0, 2],
])('half as many more are under way as serve what %s', (_, tookMs, perSecond, most) => {
  const { serve, begin, crowd, pass, most: mostNow } = start();
  if (tookMs > 0) serve(64, tookMs);
  crowd();
  // Several at once, to reach this throughput.
  for (let nth = 0; nth < perSecond; nth += 1) {
    const end = begin('prj-1');
    pass(1_000 / perSecond);
    end(true);
    crowd();
  }
  expect(mostNow()).toBe(most);
});

it('what opens take while it is crowded is not taken for what they take alone', () => {
  const { serve, crowd, pass, most } = start();
  serve(64, 10);
  for (let nth = 0; nth < 64; nth += 1) {
    crowd();
    serve(1, 200);
  }
  pass(2_000);
  crowd();
  serve(100, 1);
  expect(most()).toBe(2);
});

it('a project that has none under way is never full', () => {
  const { crowd, begin, isFull } = start();
  crowd();
  begin('prj-1');
  begin('prj-1');
  expect([isFull('prj-1'), isFull('prj-2')]).toEqual([true, false]);
});

it('it is crowded for as long as more is asked for than is served, and a second longer', () => {
  const { serve, crowd, ask, turnAway, pass, isCrowded } = start();
  serve(100, 10);
  crowd();
  for (let nth = 0; nth < 20; nth += 1) {
    serve(10, 10);
    ask();
    turnAway();
  }
  expect(isCrowded()).toBe(true);
  pass(999);
  expect(isCrowded()).toBe(true);
  pass(1);
  expect(isCrowded()).toBe(false);
});

it('it is not crowded any longer when few are asked for, though some of them come at once', () => {
  const { serve, crowd, ask, turnAway, isCrowded } = start();
  serve(100, 10);
  crowd();
  serve(20, 10, 40);
  for (let nth = 0; nth < 10; nth += 1) {
    serve(1, 10, 40);
    ask();
    turnAway();
  }
  expect(isCrowded()).toBe(false);
});
