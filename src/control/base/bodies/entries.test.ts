import { describe, expect, it } from 'vitest';
import { countEntries, placeOf } from './entries.ts';

const countAt = (text: string, brackets: string): number =>
  countEntries(Buffer.from(text))[placeOf(brackets)] ?? 0;

describe('countEntries', () => {
  it.each([
    ['{"a":[1,2,{"b":[3,[4]]}]}', '{[', 3],
    ['{"a":[1,2,{"b":[3,[4]]}]}', '{[{[', 2],
    ['{"a":[1,2,{"b":[3,[4]]}]}', '{[{[[', 1],
    ['{"a":[],"b":[ \n ],"c":[[]]}', '{[', 1],
    ['{"a":["],[,",",\\"]"]}', '{[', 2],
    ['{"a":[1,2,"cut', '{[', 3],
    ['[1,2]', '[', 2],
    [']]}}{"a":[1]}', '{[', 1],
  ])(
    'counts the entries of lists at a position, which is given as open brackets: %s at %s',
    (text, brackets, count) => {
      expect(countAt(text, brackets)).toBe(count);
    },
  );

  it('does not count entries of lists that are nested too deeply', () => {
    const deep = `${'['.repeat(50)}1,2${']'.repeat(50)}`;
    expect(countAt(`{"a":[${deep},${deep}]}`, '{[')).toBe(2);
  });
});
