import { describe, expect, it } from 'vitest';
import { isObject, own, parsePointer, toPointer } from './json.ts';

describe('JSON pointers', () => {
  it.each([
    ['', []],
    ['/', ['']],
    ['/rows/0/name', ['rows', '0', 'name']],
    ['/a~1b', ['a/b']],
    ['/m~0n', ['m~n']],
    ['/~01', ['~1']],
    ['/~10', ['/0']],
    ['/~0~1', ['~/']],
  ])(
    'such as %j are split into the segments %j and joined from them again',
    (pointer, segments) => {
      expect(parsePointer(pointer)).toEqual(segments);
      expect(toPointer(segments)).toBe(pointer);
    },
  );

  it('are joined from names and from indexes of lists', () => {
    expect(toPointer(['rows', 3, 'a/b'])).toBe('/rows/3/a~1b');
  });
});

describe('isObject', () => {
  it.each([
    [{}, true],
    [{ a: 1 }, true],
    [null, false],
    [[], false],
    ['text', false],
    [undefined, false],
  ])('returns for %j: %j', (value, expected) => {
    expect(isObject(value)).toBe(expected);
  });
});

describe('own', () => {
  const object = JSON.parse('{"a": 1, "valueOf": 2, "__proto__": 3}') as Record<string, number>;

  it.each([
    ['a', 1],
    ['valueOf', 2],
    ['__proto__', 3],
    ['constructor', undefined],
    ['b', undefined],
  ])('returns for the name %j an own property or undefined: %j', (name, expected) => {
    expect(own(object, name)).toBe(expected);
  });
});
