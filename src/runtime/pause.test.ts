import { expect, it } from 'vitest';
import { restAfter } from './pause.ts';

it('the pause after a scan is four times as long as the scan, within bounds', () => {
  expect([0, 5, 100, 300, 60_000].map((ms) => restAfter(ms, 1_000))).toEqual([
    0, 20, 400, 1_000, 1_000,
  ]);
});
