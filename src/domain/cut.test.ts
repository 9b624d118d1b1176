import { expect, it } from 'vitest';
import { cut } from './cut.ts';

it.each([
  ['short', 5, 'short'],
  ['longer', 4, 'long'],
  ['ab😀', 3, 'ab'],
  ['ab😀c', 4, 'ab😀'],
  ['😀', 1, ''],
])('%s cut to %i is %s', (text, most, expected) => {
  expect(cut(text, most)).toBe(expected);
});
