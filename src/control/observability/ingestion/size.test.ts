import { expect, it } from 'vitest';
import type { ScoreWrite } from '../../db/observability/scores.ts';
import type { Report } from './fold.ts';
import { sizeOfEvents as sizeOf } from './size.ts';

const sizeOfEvents = (events: readonly { reports: Report[]; scores?: ScoreWrite[] }[]): number =>
  sizeOf(events.map((event) => ({ scores: [], ...event })));

const report = (input: string, metadata: unknown = {}): Report => ({
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

it('the size counts each event, and a large event as several', () => {
  expect(sizeOfEvents([])).toBe(0);
  expect(
    sizeOfEvents([{ reports: [report('a')] }, { reports: [report('b')] }, { reports: [] }]),
  ).toBe(3);
  expect(Math.round(sizeOfEvents([{ reports: [report('x'.repeat(8_192 * 5))] }]))).toBe(5);
});

it('the size counts the texts in metadata, however deeply they are nested', () => {
  let deep: unknown = 'x'.repeat(8_192 * 3);
  for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
  expect(Math.floor(sizeOfEvents([{ reports: [report('', deep)] }]))).toBeGreaterThanOrEqual(5);
  const wide = Array.from({ length: 8_192 * 2 }, () => 1);
  expect(sizeOfEvents([{ reports: [report('', wide)] }])).toBeGreaterThanOrEqual(2);
});

it('the size counts tags and the texts of scores', () => {
  const one = report('');
  const tags = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(1_000, '0'));
  const tagged = { ...one, state: { ...one.state, tags } } as Report;
  expect(Math.round(sizeOfEvents([{ reports: [tagged] }]))).toBe(122);
  const text = 'x'.repeat(8_192);
  const score = { stringValue: text, comment: text, metadataJson: text } as ScoreWrite['score'];
  const write = { id: 'score', reportedAt: 0, scoredAt: 0, score };
  expect(sizeOfEvents([{ reports: [], scores: [write, write] }])).toBe(6);
});
