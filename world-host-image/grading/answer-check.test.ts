import { expect, it } from 'vitest';
import { judgeAnswer } from './answer-check.ts';

const judge = (equals: unknown, value: unknown, rest: { as?: 'set'; tolerance?: number } = {}) =>
  judgeAnswer({ kind: 'answer', equals, ...rest }, { answer: { value } }).verdict;

it('an answer check accepts members in another order, and no other form of a value', () => {
  expect(judge({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe('pass');
  expect(judge('5', 5)).toBe('fail');
  expect(judge(5, '5.')).toBe('fail');
  expect(judge(0, -0)).toBe('pass');
  expect(judge([1, 2], [2, 1])).toBe('fail');
  expect(judge({ a: 1 }, { a: 1, b: null })).toBe('fail');
});

it('an answer check accepts a text that spells the expected number', () => {
  expect(judge(23, ' 23 ')).toBe('pass');
  expect(judge(3.14, '3.149', { tolerance: 0.01 })).toBe('pass');
  expect(judge(23, '#23')).toBe('fail');
  expect(judge(0, '')).toBe('fail');
});

it('an answer check compares sets by their items, also long ones', () => {
  const items = Array.from({ length: 30_000 }, (_, index) => index);
  expect(judge(items, items.toReversed(), { as: 'set' })).toBe('pass');
  expect(judge(items, [...items, -1], { as: 'set' })).toBe('fail');
  expect(judge([{ a: 1, b: 2 }], [{ b: 2, a: 1 }], { as: 'set' })).toBe('pass');
  expect(judge(['a', 'b'], ['a'], { as: 'set' })).toBe('fail');
  expect(judge(['a'], 'a', { as: 'set' })).toBe('fail');
});
