import { describe, expect, it } from 'vitest';
import { zeroByteIn } from './zero-bytes.ts';

describe('a zero byte', () => {
  it.each([
    ['in a text', { name: 'a\0b' }, ['name']],
    ['in a list', { tags: ['a', 'b', '\0'] }, ['tags', '2']],
    ['deep inside', { input: { one: 1, two: [{ three: 'x\0' }] } }, ['input', 'two', '0', 'three']],
    ['in a name', { input: { 'a\0b': 1 } }, ['input', 'a\\u0000b']],
    ['as the body itself', '\0', []],
  ])('is found %s', (_, body, path) => {
    expect(zeroByteIn(body)).toEqual({
      path,
      message: 'holds a zero byte (U+0000), which cannot be stored',
    });
  });

  it.each([undefined, null, 0, '', '\\u0000', {}, { a: ['b', { c: null }] }])(
    'is not found in %j',
    (body) => {
      expect(zeroByteIn(body)).toBeUndefined();
    },
  );
});
