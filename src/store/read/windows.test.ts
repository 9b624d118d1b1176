import { describe, expect, it } from 'vitest';
import { openSampleStore, refusalOf } from '#test/support/worlds/sample-store.ts';

describe('window', () => {
  const store = openSampleStore();
  const look = (query: object = {}) => store.window('issues', { after: -1, rows: 100, ...query });

  it('scans a limited number of rows, and reports its position', () => {
    const first = look({ rows: 2 });
    expect([first.found.length, first.last]).toEqual([2, 2]);
    const next = look({ rows: 2, after: first.last });
    expect([next.found.length, next.last]).toEqual([1, 3]);
    expect(look({ after: next.last })).toEqual({ found: [], last: undefined });
  });

  it('returns sort keys: texts, numbers, and null for absent fields', () => {
    const keys = (path: string[]) => look({ sortBy: path }).found.map(([, key]) => key);
    expect(keys(['number'])).toEqual([1, 2, 1]);
    expect(keys(['assignee'])).toEqual(['bob', null, null]);
    expect(keys(['labels', '0'])).toEqual(['bug', null, null]);
  });

  it('finds rows by conditions and by words in any field, but not by names of fields', () => {
    const where = [{ path: ['owner'], match: 'equals' as const, value: 'ann' }];
    expect(look({ where }).found.map(([at]) => at)).toEqual([1, 2]);
    expect(look({ where, words: ['CRASH', 'engine'] }).found.map(([at]) => at)).toEqual([1]);
    expect(look({ words: ['title'] }).found).toEqual([]);
  });

  it('continues after a stretch without matches', () => {
    expect(look({ rows: 1, words: ['thin'] })).toEqual({ found: [], last: 1 });
  });

  it('refuses to sort by an unknown field', async () => {
    const refusal = await refusalOf(() => look({ sortBy: ['titel'] }));
    expect(refusal.message).toContain('did you mean "title"');
  });
});
