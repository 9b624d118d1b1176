import { expect, it } from 'vitest';
import type { Told } from './fold.ts';
import { sizeOfEvents } from './size.ts';

const told = (input: string, metadata: unknown = {}): Told => ({
  kind: 'trace',
  id: 'trace',
  state: {
    at: null,
    guessedAt: 0,
    values: { input: ['1', input], public: ['1', true] },
    tags: [],
    metadata: [['1', metadata]],
  },
});

it('counts events, and a large one as several', () => {
  expect(sizeOfEvents([])).toBe(0);
  expect(sizeOfEvents([{ told: [told('a')] }, { told: [told('b')] }, { told: [] }])).toBe(3);
  expect(Math.round(sizeOfEvents([{ told: [told('x'.repeat(8_192 * 5))] }]))).toBe(5);
});

it('counts what metadata says, however deep it is', () => {
  let deep: unknown = 'x'.repeat(8_192 * 3);
  for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
  expect(Math.floor(sizeOfEvents([{ told: [told('', deep)] }]))).toBeGreaterThanOrEqual(5);
  const wide = Array.from({ length: 8_192 * 2 }, () => 1);
  expect(sizeOfEvents([{ told: [told('', wide)] }])).toBeGreaterThanOrEqual(2);
});
