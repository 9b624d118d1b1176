import { describe, expect, it } from 'vitest';
import { createLookup } from './credential-lookup.ts';

/**
 * Builds a lookup over a fake database. The database holds the keys that begin with `pk-known`, and answers a query
 * only when the test releases it.
 */
const bench = () => {
  const queries: string[][] = [];
  const answers: (() => void)[] = [];
  let nowMs = 1_000;
  const read = async (asked: readonly string[]) => {
    queries.push([...asked]);
    const { promise, resolve } = Promise.withResolvers<void>();
    answers.push(resolve);
    await promise;
    if (asked.includes('pk-broken')) throw new Error('no database');
    const known = asked.filter((key) => key.startsWith('pk-known'));
    return known.map((publicKey) => ({ publicKey, projectId: 'prj-1' }));
  };
  const find = createLookup({
    read,
    nameOf: ({ publicKey }) => publicKey,
    form: /^[\x21-\x7e]{1,256}$/,
    now: () => nowMs,
  });
  const answer = async (): Promise<void> => {
    answers.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queries, find, answer, pass: (ms: number) => (nowMs += ms) };
};

describe('the lookup of credentials', () => {
  it('batches the keys that arrive during a query, so that unknown keys cost few queries', async () => {
    const { queries, find, answer } = bench();
    const first = find('pk-known');
    const flood = Array.from({ length: 1_500 }, (_, index) => find(`pk-none-${index}`));
    const twice = [find('pk-known-too'), find('pk-known-too')];
    await answer();
    expect((await first)?.publicKey).toBe('pk-known');
    await answer();
    await answer();
    expect(await Promise.all(flood)).toEqual(flood.map(() => undefined));
    expect((await Promise.all(twice)).map((key) => key?.publicKey)).toEqual([
      'pk-known-too',
      'pk-known-too',
    ]);
    expect(queries.map(({ length }) => length)).toEqual([1, 1_000, 501]);
  });

  it('caches a known key for 3 s, counted from the start of its query', async () => {
    const { queries, find, answer, pass } = bench();
    const asked = find('pk-known');
    pass(1_000);
    await answer();
    await asked;
    pass(2_000);
    expect((await find('pk-known'))?.projectId).toBe('prj-1');
    expect(queries).toHaveLength(1);
    pass(1);
    const looked = find('pk-known');
    await answer();
    await looked;
    expect(queries).toHaveLength(2);
  });

  it('caches an unknown key for 1 s, so that a key in constant use costs one query a second', async () => {
    const { queries, find, answer, pass } = bench();
    const ask = async (publicKey: string): Promise<void> => {
      const asked = find(publicKey);
      await answer();
      expect(await asked).toBeUndefined();
    };
    await ask('pk-none');
    pass(1_000);
    for (let nth = 0; nth < 100; nth += 1) expect(await find('pk-none')).toBeUndefined();
    expect(queries).toHaveLength(1);
    pass(1);
    await ask('pk-none');
    expect(queries).toHaveLength(2);
  });

  it('caches at most 10,000 unknown keys, and drops the oldest', async () => {
    const { queries, find, answer } = bench();
    const flood = Array.from({ length: 10_001 }, (_, nth) => find(`pk-none-${nth}`));
    while (queries.length < 11) await answer();
    await answer();
    await Promise.all(flood);
    expect(queries).toHaveLength(11);
    expect(await find('pk-none-1')).toBeUndefined();
    expect(queries).toHaveLength(11);
    const oldest = find('pk-none-0');
    await answer();
    expect(await oldest).toBeUndefined();
    expect(queries).toHaveLength(12);
  });

  it('runs no query for text that cannot be a key, and queries again after a failed query', async () => {
    const { queries, find, answer } = bench();
    for (const key of ['', 'a b', 'pk-\u0000', 'ü', 'x'.repeat(257)]) {
      expect(await find(key)).toBeUndefined();
    }
    expect(queries).toEqual([]);
    const broken = expect(find('pk-broken')).rejects.toThrow('no database');
    await answer();
    await broken;
    const fine = find('pk-known');
    await answer();
    expect(await fine).toBeDefined();
  });
});
