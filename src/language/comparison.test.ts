import { expect, it } from 'vitest';
import { isComparison, readCondition } from './comparison.ts';

it('reads a scalar as a value, a list as alternatives, and an object as conditions that must all hold', () => {
  expect(readCondition(null)).toEqual([{ operator: 'eq', operand: null }]);
  expect(readCondition(['a', 1])).toEqual([{ operator: 'in', operand: ['a', 1] }]);
  expect(readCondition({ gt: 1, lte: 2 })).toEqual([
    { operator: 'gt', operand: 1 },
    { operator: 'lte', operand: 2 },
  ]);
});

it.each([
  [{}, 'compares nothing'],
  [{ more: 1 }, '"more" is no operator'],
  [{ __proto__: null, constructor: 1 }, '"constructor" is no operator'],
  [{ gt: [1] }, '"gt" takes a number or a text'],
  [{ in: 'a' }, '"in" takes a list of scalars'],
  [{ exists: 'yes' }, '"exists" takes true or false'],
  [{ contains: null }, '"contains" takes a text'],
  [[['a']], 'a list may hold scalars only'],
  [undefined, 'is no scalar'],
])('says what is wrong with %j', (wanted, fault) => {
  expect(readCondition(wanted)).toEqual({ fault: expect.stringContaining(fault) });
});

it('distinguishes a comparison from a path that is written as a table', () => {
  expect(isComparison({ gt: 1 })).toBe(true);
  expect(isComparison({ login: 'ann' })).toBe(false);
  expect(isComparison({ gt: 1, login: 'ann' })).toBe(false);
  expect(isComparison({})).toBe(false);
});
