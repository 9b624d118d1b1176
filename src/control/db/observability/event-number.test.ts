import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { numberOf } from './event-number.ts';

const count = 300_000;

it.each<[string, (index: number) => string]>([
  ['are counted up', (index) => `event-${index}`],
  ['are counted up in two places', (index) => `trace-${index % 550}-c${Math.floor(index / 550)}`],
  ['are numbers', (index) => String(index)],
  ['are UUIDs', () => randomUUID()],
  [
    'differ in their first characters',
    (index) => `${index.toString(36)}-of-one-trace-of-many-words`,
  ],
  [
    'are of letters beyond ASCII',
    (index) => String.fromCharCode(0x4e00 + (index % 20_000), 0x400 + Math.floor(index / 20_000)),
  ],
  ['are long and differ in one place', (index) => `${'x'.repeat(60)}${index}${'y'.repeat(60)}`],
])('numberOf returns different numbers for many ids that %s', (_, idOf) => {
  const numbers = new Set<number>();
  let most = 0;
  for (let index = 0; index < count; index += 1) {
    const number = Number(numberOf(idOf(index)));
    numbers.add(number);
    most = Math.max(most, number);
  }
  expect(numbers.size).toBe(count);
  expect(most).toBeLessThan(Number.MAX_SAFE_INTEGER);
});
