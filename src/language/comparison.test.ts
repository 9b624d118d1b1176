import { expect, it } from 'vitest';
import { isComparison, readCondition } from './comparison.ts';

it('a condition is a value, a list of alternatives, or an object of comparisons that must all be true', () => {
  expect(readCondition(null)).toEqual([{ operator: 'eq', operand: null }]);
  expect(readCondition(['a', 1])).toEqual([{ operator: 'in', operand: ['a', 1] }]);
  expect(readCondition({ gt: 1, lte: 2 })).toEqual([
    { operator: 'gt', operand: 1 },
    { operator: 'lte', operand: 2 },
  ]);
});

it.each([
  [{}, 'has no operator'],
  [{ more: 1 }, '"more" is no operator'],
  [{ __proto__: null, constructor: 1 }, '"constructor" is no operator'],
  [{ gt: [1] }, '"gt" takes a number or a text'],
  [{ in: 'a' }, '"in" takes a list of scalars'],
  [{ exists: 'yes' }, '"exists" takes true or false'],
  [{ contains: null }, '"contains" takes a text'],
  [[['a']], 'a list must contain only scalars'],
  [undefined, 'is neither a scalar'],
])('the condition %j is refused with the reason', (wanted, fault) => {
  expect(readCondition(wanted)).toEqual({ fault: expect.stringContaining(fault) });
});

it('a comparison is distinguished from a path that is written as a table', () => {
  expect(isComparison({ gt: 1 })).toBe(true);
  expect(isComparison({ login: 'ann' })).toBe(false);
  expect(isComparison({ gt: 1, login: 'ann' })).toBe(false);
  expect(isComparison({})).toBe(false);
});
