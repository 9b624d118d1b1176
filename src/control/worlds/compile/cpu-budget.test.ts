import { describe, expect, it } from 'vitest';
import { createCompileBudget } from './cpu-budget.ts';

const budgetOf = (secondsPerMinute: number) => {
  let nowMs = 0;
  const budget = createCompileBudget(secondsPerMinute, () => nowMs);
  return { ...budget, pass: (ms: number) => (nowMs += ms) };
};

describe('the compile time of a project', () => {
  it('can be spent all at once, and is restored at a steady rate', () => {
    const budget = budgetOf(30);
    budget.spend('a', 29);
    expect(budget.waitMs('a')).toBe(0);
    budget.spend('a', 6);
    expect(budget.waitMs('a')).toBe(10_000);
    budget.pass(4_000);
    expect(budget.waitMs('a')).toBe(6_000);
    budget.pass(6_001);
    expect(budget.waitMs('a')).toBe(0);
  });

  it('is separate from the compile time of other projects', () => {
    const budget = budgetOf(30);
    budget.spend('a', 100);
    expect(budget.waitMs('b')).toBe(0);
  });

  it('is restored up to its limit, and never beyond', () => {
    const budget = budgetOf(30);
    budget.spend('a', 30);
    budget.pass(3_600_000);
    budget.spend('a', 31);
    expect(budget.waitMs('a')).toBe(2_000);
  });
});
