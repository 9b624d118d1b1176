import { describe, expect, it } from 'vitest';
import { holdsInheriting, isTooDeep } from './json-extent.ts';

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

describe('holdsInheriting', () => {
  it.each([
    ['{"__proto__":1}', true],
    [String.raw`{"a":[{"\u005f_proto__":1}]}`, true],
    ['{"constructor":{"prototype":1}}', true],
    ['{"constructor":"__proto__"}', false],
  ])('%s: %s', (text, expected) => {
    expect(holdsInheriting(text, JSON.parse(text))).toBe(expected);
  });
});
