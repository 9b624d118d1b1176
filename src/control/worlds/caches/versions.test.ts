import { describe, expect, it } from 'vitest';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { Queryable } from '../../db/core/database.ts';
import { forProject } from '../../db/core/project-queue.ts';
import type { SizedVersionRow } from '../../db/worlds/worlds.ts';
import { createVersions, type Version } from './versions.ts';

/**
 * Builds a fake database of versions `<project>-<number>` that records its reads. The contract of each version is
 * `jsonChars` characters long.
 */
const countingDatabase = (jsonChars: number) => {
  const reads: string[] = [];
  const query = async (_statement: unknown, [id]: [string]): Promise<SizedVersionRow[]> => {
    reads.push(id);
    const contract = { tools: [], api: null };
    const world = { worldId: 'wld-1', slug: 'notes' };
    const row = {
      ...world,
      id,
      projectId: id.split('-')[0],
      contract,
      files: [],
      links: [],
      jsonChars,
    };
    return [row as unknown as SizedVersionRow];
  };
  return { db: { query } as unknown as Queryable, reads };
};

describe('cached versions', () => {
  it('are read once', async () => {
    const { db, reads } = countingDatabase(1_000);
    const versions = createVersions(db);
    for (const id of ['a-1', 'a-2', 'a-1']) await versions.get(id);
    expect((await versions.get('a-1'))?.projectId).toBe('a');
    expect(reads).toEqual(['a-1', 'a-2']);
  });

  it('are read once for concurrent requests, separately for each project', async () => {
    const { db, reads } = countingDatabase(1_000);
    const versions = createVersions(db);
    const ask = (project: string) => forProject(project, () => versions.get('a-1'));
    await Promise.all(['a', 'a', 'b', 'a'].map(ask));
    expect(reads).toEqual(['a-1', 'a-1']);
  });

  it('have a slug that is read again after some seconds, and at once after a rename on this replica', async () => {
    let nowMs = 0;
    let slug = 'notes';
    const row = { id: 'a-1', projectId: 'a', worldId: 'wld-1', files: [], links: [], jsonChars: 1 };
    const contract = { tools: [], api: null };
    const query = async ({ name }: { name: string }) =>
      name === 'find_world_slug' ? [{ slug }] : [{ ...row, contract, slug }];
    const versions = createVersions({ query } as unknown as Queryable, undefined, () => nowMs);
    const slugOf = async () => (await versions.get('a-1'))?.slug;
    expect(await slugOf()).toBe('notes');
    slug = 'jottings';
    expect(await slugOf()).toBe('notes');
    nowMs = 5_000;
    expect(await slugOf()).toBe('jottings');
    slug = 'papers';
    versions.forgetSlug('wld-1');
    expect(await slugOf()).toBe('papers');
  });

  it('of one project stay cached while another project requests more and more versions', async () => {
    const { db, reads } = countingDatabase(100_000);
    const kept = createFairCache<Version>(10_000_000);
    const versions = createVersions(db, kept);
    await versions.get('quiet-1');
    for (let number = 0; number < 100; number += 1) await versions.get(`busy-${number}`);
    await versions.get('quiet-1');
    expect(reads.filter((id) => id === 'quiet-1')).toHaveLength(1);
    expect(kept.bytes()).toBeLessThanOrEqual(10_000_000);
  });
});
