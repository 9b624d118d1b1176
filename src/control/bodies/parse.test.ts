import { describe, expect, it } from 'vitest';
import { isTooDeep } from './parse.ts';

describe('isTooDeep', () => {
  it.each([
    ['[[1]]', false],
    ['[[[1]]]', true],
    ['{"a":{"b":1}}', false],
    ['{"a":{"b":[]}}', true],
    ['[1,[2],[3],[4]]', false],
    [String.raw`{"a":"[[[[\"[[[["}`, false],
    [String.raw`{"a":"\\","b":[[1]]}`, true],
    ['{"a":"[[[', false],
  ])('%s: %s', (text, expected) => {
    expect(isTooDeep(text, 2)).toBe(expected);
  });
});
