import { expect, it } from 'vitest';
import { makerOf } from './row-maker.ts';

it('makerOf builds row objects from values in the order of their names, whatever the names are', () => {
  const names = ['id', 'startTime', '?column?', 'a "b"', 'line\n\u2028', '`', 'null'];
  const columns = names.map((name) => ({ name }));
  const make = makerOf({}, columns);
  const values = ['1', null, 2, new Date(0), false, '`', undefined];
  expect(make(values)).toEqual(Object.fromEntries(names.map((name, i) => [name, values[i]])));
  expect(Object.keys(make([]) as object)).toEqual(names);
});

it('makerOf returns the same function again for the rows of the same statement', () => {
  const statement = {};
  const columns = [{ name: 'a' }];
  expect(makerOf(statement, columns)).toBe(makerOf(statement, columns));
  expect(makerOf({}, [{ name: 'b' }])([1])).toEqual({ b: 1 });
});
