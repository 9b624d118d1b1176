import { expect, it } from 'vitest';
import { makerOf } from './row-maker.ts';

it('makes rows of values in the order of their names, whatever these are', () => {
  const names = ['id', 'startTime', '?column?', 'a "b"', 'line\n\u2028', '`', 'null'];
  const make = makerOf({}, names);
  const values = ['1', null, 2, new Date(0), false, '`', undefined];
  expect(make(values)).toEqual(Object.fromEntries(names.map((name, i) => [name, values[i]])));
  expect(Object.keys(make([]) as object)).toEqual(names);
});

it('keeps what it made for a statement', () => {
  const statement = {};
  expect(makerOf(statement, ['a'])).toBe(makerOf(statement, ['a']));
  expect(makerOf({}, ['b'])([1])).toEqual({ b: 1 });
});
