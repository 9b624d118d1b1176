import { expect, it } from 'vitest';
import { createPatternMatch } from './match-patterns.ts';

it('matchPatterns searches one text after another, and begins no further text once its time is used up', () => {
  let ms = 0;
  const clock = (): number => {
    ms += 900;
    return ms;
  };
  const given = { patterns: ['a', '^b'], texts: ['ab', 'ba', 'c', 'a'] };
  expect(createPatternMatch(clock)(given)).toEqual([[0], [0, 1]]);
  expect(createPatternMatch(() => 0)(given)).toEqual([[0], [0, 1], [], [0]]);
});
