import { describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import type { Contract } from '#language/contract.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { Queryable, Statement } from '../../db/core/database.ts';
import type { VersionRow } from '../../db/worlds/worlds.ts';
import { createVersionTexts } from './version-texts.ts';

const textBytes = 1_500_000;

const namesOf = ['toolSchemas', 'toolLengths', 'tools', 'tasks', 'redact', 'dependencies'];

/**
 * Builds a fake database of versions that records its reads. Each version has one long text, except for the versions in
 * `lacking`.
 */
const textDatabase = (lacking: readonly string[] = []) => {
  const texts = new Map<string, string>();
  const reads: string[] = [];
  const textOf = (id: string, name: string): string | undefined =>
    texts.get(`${id} ${name}`) ?? (lacking.includes(id) ? undefined : '"'.padEnd(textBytes, 't'));
  const query = async ({ name }: Statement, values: unknown[]): Promise<object[]> => {
    if (name === 'insert_version_text') {
      const [id, text, json] = values as string[];
      texts.set(`${id} ${text}`, json ?? '');
      return [];
    }
    const [ids, names] = values as [string[], string[]];
    const rows = ids.flatMap((versionId) =>
      names.flatMap((each) => {
        const text = textOf(versionId, each);
        return text === undefined ? [] : [{ versionId, name: each, text }];
      }),
    );
    if (name === 'measure_version_texts') {
      return rows.map(({ versionId, text }) => ({ versionId, bytes: text.length }));
    }
    reads.push(...ids);
    return rows;
  };
  return { db: { query } as unknown as Queryable, reads, texts };
};

const row = (id: string, description: string): VersionRow => {
  const tool = { name: 'f', description, input: {}, output: {} };
  const contract = { tools: [tool], definitions: {}, tasks: [], redact: null, dependencies: [] };
  return { id, projectId: 'p', contract: contract as unknown as Contract } as VersionRow;
};

const none = async (): Promise<undefined> => undefined;
const page = (count: number, id = (at: number): string => `v-${at}`) =>
  Array.from({ length: count }, (_, at) => ({ versionId: id(at), otherBytes: 0 }));

describe('the texts of a page', () => {
  it('are read only as far as the size budget of the page allows', async () => {
    const { db, reads } = textDatabase();
    const shown = await createVersionTexts(db, none).page(page(100), ['toolSchemas']);
    const fitting = Math.floor(limits.pageBytes / textBytes);
    expect(shown.filter((texts) => texts !== undefined)).toHaveLength(fitting);
    expect(reads).toEqual(page(fitting).map(({ versionId }) => versionId));
  });

  it('are read once for several entries of one version, and count once for each entry against the budget', async () => {
    const { db, reads } = textDatabase();
    const shown = await createVersionTexts(db, none).page(
      page(100, () => 'v'),
      ['tools'],
    );
    expect(shown.filter((texts) => texts !== undefined)).toHaveLength(2);
    expect(reads).toEqual(['v']);
  });

  it('are neither measured nor read if none are requested', async () => {
    const { db, reads } = textDatabase();
    expect(await createVersionTexts(db, none).page(page(3), [])).toEqual([{}, {}, {}]);
    expect(reads).toEqual([]);
  });

  it('are built and stored for versions that have none, within the size budget', async () => {
    const ids = page(20).map(({ versionId }) => versionId);
    const { db, texts } = textDatabase(ids);
    const made: string[] = [];
    const getVersion = async (id: string): Promise<VersionRow> => {
      made.push(id);
      return row(id, 'd'.repeat(textBytes));
    };
    const reader = createVersionTexts(db, getVersion);
    const shown = await reader.page(page(20), ['toolSchemas']);
    expect(shown.filter((one) => one !== undefined)).toHaveLength(2);
    expect(made).toEqual(['v-0', 'v-1', 'v-2']);
    expect([...texts.keys()].slice(0, namesOf.length)).toEqual(
      namesOf.map((name) => `v-0 ${name}`),
    );
    await reader.page(page(20), ['toolSchemas']);
    expect(made).toHaveLength(3);
  });
});

describe('the text of one version', () => {
  it('is cached if it is small, and its full size counts against the cache limit', async () => {
    const { db, reads } = textDatabase(['small', 'large']);
    const kept = createFairCache<string>(10_000_000);
    const chars = { small: 1_000, large: 1_000_000 };
    const getVersion = async (id: string) => row(id, 'd'.repeat(chars[id as keyof typeof chars]));
    const reader = createVersionTexts(db, getVersion, kept);
    for (const id of ['small', 'large', 'small', 'large']) {
      const text = await reader.one({ id, projectId: 'p' }, 'toolSchemas');
      expect(text.length).toBeGreaterThan(chars[id as keyof typeof chars]);
    }
    expect(reads).toEqual(['small', 'large', 'large']);
    expect(kept.bytes()).toBeGreaterThan(2 * chars.small);
    expect(kept.bytes()).toBeLessThan(chars.large);
  });
});
