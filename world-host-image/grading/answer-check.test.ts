import { expect, it } from 'vitest';
import { judgeAnswer } from './answer-check.ts';

const judge = (equals: unknown, value: unknown, rest: { as?: 'set'; tolerance?: number } = {}) =>
  judgeAnswer({ kind: 'answer', equals, ...rest }, { answer: { value } }).verdict;

it('a check of the answer accepts members in another order, but no other difference in the value', () => {
  expect(judge({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe('pass');
  expect(judge('5', 5)).toBe('fail');
  expect(judge(5, '5.')).toBe('fail');
  expect(judge(0, -0)).toBe('pass');
  expect(judge([1, 2], [2, 1])).toBe('fail');
  expect(judge({ a: 1 }, { a: 1, b: null })).toBe('fail');
});

it('a check of the answer accepts the expected number given as text', () => {
  expect(judge(23, ' 23 ')).toBe('pass');
  expect(judge(3.14, '3.149', { tolerance: 0.01 })).toBe('pass');
  expect(judge(23, '#23')).toBe('fail');
  expect(judge(0, '')).toBe('fail');
});

it('a check of the answer compares sets by their items, even very large sets', () => {
  const items = Array.from({ length: 30_000 }, (_, index) => index);
  expect(judge(items, items.toReversed(), { as: 'set' })).toBe('pass');
  expect(judge(items, [...items, -1], { as: 'set' })).toBe('fail');
  expect(judge([{ a: 1, b: 2 }], [{ b: 2, a: 1 }], { as: 'set' })).toBe('pass');
  expect(judge(['a', 'b'], ['a'], { as: 'set' })).toBe('fail');
  expect(judge(['a'], 'a', { as: 'set' })).toBe('fail');
});
