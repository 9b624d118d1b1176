import { expect, it } from 'vitest';
import { restAfter } from './pace.ts';

it('rests four times as long as a look took, unless it was quick, and within bounds', () => {
  expect([0, 19, 20, 100, 300, 60_000].map((ms) => restAfter(ms, 1_000))).toEqual([
    0, 0, 80, 400, 1_000, 1_000,
  ]);
});
