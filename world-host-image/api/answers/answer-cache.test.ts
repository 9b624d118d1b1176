/** Limits of the answer cache, and cases that do not occur if the connector's declarations are right. */
import { describe, expect, it } from 'vitest';
import { openSampleStore } from '#test/support/worlds/sample-store.ts';
import { nothingSeen, type Seen } from '../../session/seen.ts';
import { jsonAnswer } from './answer.ts';
import { AnswerCache, type CacheRequest } from './answer-cache.ts';

const limits = { bytes: 100_000, answerBytes: 30_000, variants: 3 };

const request = (id: number, headers: Record<string, string> = {}): CacheRequest => ({
  route: { operation: 'get_user' },
  args: { id: String(id) },
  request: { method: 'GET', path: `/users/${id}`, headers, mediaType: 'application/json' },
});

const answered = (body: string) => ({ answer: jsonAnswer(200, body), common: {} });
const saw = (more: Partial<Seen> = {}): Seen => ({
  ...nothingSeen(),
  entities: new Set(['users']),
  ...more,
});

it('the answer cache stays within its limits, and evicts the least recently requested answers', () => {
  const cache = new AnswerCache(openSampleStore().versions, limits);
  for (let id = 0; id < 60; id += 1) {
    cache.keep(request(id), answered(`"${'x'.repeat(1_000)}"`), saw());
    cache.find(request(0));
    expect(cache.bytes()).toBeLessThanOrEqual(limits.bytes);
  }
  expect(cache.find(request(0))).toBeDefined();
  expect(cache.find(request(1))).toBeUndefined();
  expect(cache.find(request(59))).toBeDefined();
  cache.keep(request(100), answered(`"${'x'.repeat(20_000)}"`), saw());
  expect(cache.find(request(100))).toBeUndefined();
});

it('a cached body counts as its text plus its encoded bytes, and text other than ASCII counts two bytes a character', () => {
  const bytesKept = (body: string): number => {
    const cache = new AnswerCache(openSampleStore().versions, limits);
    cache.keep(request(1), answered(body), saw());
    return cache.bytes();
  };
  const none = bytesKept('');
  expect(bytesKept('x'.repeat(1_000)) - none).toBe(2_000);
  expect(bytesKept('→'.repeat(1_000)) - none).toBe(3_000 + 2_000);
});

describe('long bodies', () => {
  const start = (pages: number) => {
    const large = { ...limits, bytes: 500_000, answerBytes: 100_000 };
    const cache = new AnswerCache(openSampleStore().versions, large);
    const keep = (page: number) => cache.keep(request(page), answered('x'.repeat(70_000)), saw());
    for (let page = 1; page <= pages; page += 1) keep(page);
    const isTextOnly = (page: number) =>
      cache.find(request(page))?.answer.once?.isTextOnly ?? false;
    return { cache, keep, isTextOnly };
  };

  it('lose their encoded bytes before any answer is evicted, the least recently used first', () => {
    const { cache, keep, isTextOnly } = start(3);
    expect(cache.bytes()).toBeGreaterThan(6 * 70_000);
    expect([3, 2, 1].map(isTextOnly)).toEqual([false, false, false]);
    keep(4);
    expect([4, 3, 2, 1].map(isTextOnly)).toEqual([false, true, false, false]);
    expect(cache.bytes()).toBeLessThan(500_000);
  });

  it('all stay in the cache as text if they are requested again one after the other', () => {
    const { cache } = start(6);
    const rounds = [1, 2].map(() =>
      [1, 2, 3, 4, 5, 6].map((page) => cache.find(request(page))?.answer.body?.length),
    );
    expect(rounds).toEqual([Array(6).fill(70_000), Array(6).fill(70_000)]);
    expect(cache.bytes()).toBeLessThan(500_000);
  });

  it('that are requested repeatedly get their bytes back in place of answers that were never requested again', () => {
    const { cache, isTextOnly } = start(6);
    expect([2, 2].map(isTextOnly)).toEqual([true, false]);
    expect(cache.find(request(1))).toBeUndefined();
    expect(cache.find(request(3))).toBeDefined();
    expect(cache.bytes()).toBeLessThan(500_000);
  });
});

it('to free memory, a short body is evicted whole, and a long one stays in the cache as text', () => {
  const small = { ...limits, bytes: 70_000, answerBytes: 70_000 };
  const cache = new AnswerCache(openSampleStore().versions, small);
  cache.keep(request(1), answered('x'.repeat(65_536)), saw());
  expect(cache.find(request(1))).toBeUndefined();
  cache.keep(request(1), answered('x'.repeat(65_537)), saw());
  expect(cache.find(request(1))?.answer.once).toEqual({ isTextOnly: true });
  expect(cache.bytes()).toBeLessThan(70_000);
});

it('if one request has too many answers that differ by headers, the oldest answer is evicted', () => {
  const cache = new AnswerCache(openSampleStore().versions, limits);
  for (let mark = 0; mark < 5; mark += 1) {
    const seen = saw({ headers: new Set(['x-mark']) });
    cache.keep(request(1, { 'x-mark': `${mark}` }), answered(`${mark}`), seen);
  }
  const marks = [0, 1, 2, 3, 4].map((mark) => cache.find(request(1, { 'x-mark': `${mark}` })));
  expect(marks.map((found) => found?.answer.body)).toEqual([undefined, undefined, '2', '3', '4']);
  expect(cache.find(request(1))).toBeUndefined();
});

it('an answer is not cached if its worker reports a read of an unknown entity', () => {
  const cache = new AnswerCache(openSampleStore().versions, limits);
  cache.keep(request(1), answered('1'), saw({ entities: new Set(['users', 'nowhere']) }));
  expect([cache.find(request(1)), cache.bytes()]).toEqual([undefined, 0]);
});

it('an answer whose rows have changed is dropped, and its bytes are no longer counted', async () => {
  const store = openSampleStore();
  const cache = new AnswerCache(store.versions, limits);
  cache.keep(request(1), answered('1'), saw());
  await store.atomically(() => store.remove('issues', { id: 12 }));
  expect(cache.find(request(1))?.answer.body).toBe('1');
  await store.atomically(() => store.insert('users', { login: 'eve', id: 9 }));
  expect([cache.find(request(1)), cache.bytes()]).toEqual([undefined, 0]);
});

it('a cached answer is valid only for the same values of the headers that the code read, and for the same order of the headers if the code read all of them', () => {
  const cache = new AnswerCache(openSampleStore().versions, limits);
  const all = saw({ allHeaders: true });
  for (let id = 0; id < 30; id += 1) {
    cache.keep(request(id, { 'x-long': 'x'.repeat(5_000) }), answered('1'), all);
    expect(cache.bytes()).toBeLessThanOrEqual(limits.bytes);
  }
  expect(cache.find(request(0, { 'x-long': 'x'.repeat(5_000) }))).toBeUndefined();
  cache.keep(request(50, { b: '1', a: '2' }), answered('"b, a"'), all);
  expect(cache.find(request(50, { b: '1', a: '2' }))).toBeDefined();
  expect(cache.find(request(50, { a: '2', b: '1' }))).toBeUndefined();
});
