import { expect, it } from 'vitest';
import type { ScoreWrite } from '../../db/observability/scores.ts';
import type { Told } from './fold.ts';
import { sizeOfEvents as sizeOf } from './size.ts';

const sizeOfEvents = (events: readonly { told: Told[]; scores?: ScoreWrite[] }[]): number =>
  sizeOf(events.map((event) => ({ scores: [], ...event })));

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

it('counts tags, and the texts of scores', () => {
  const one = told('');
  const tags = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(1_000, '0'));
  const tagged = { ...one, state: { ...one.state, tags } } as Told;
  expect(Math.round(sizeOfEvents([{ told: [tagged] }]))).toBe(122);
  const text = 'x'.repeat(8_192);
  const score = { stringValue: text, comment: text, metadataJson: text } as ScoreWrite['score'];
  const write = { id: 'score', saidAt: 0, scoredAt: 0, score };
  expect(sizeOfEvents([{ told: [], scores: [write, write] }])).toBe(6);
});
