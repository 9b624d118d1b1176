/**
 * Lookup cache of worlds for session opens, by the slug or id that a request names. An entry may be stale, because any
 * replica can change a world. The statement that opens a session therefore verifies the entry that was used.
 */
import { LRUCache } from 'lru-cache';
import type { WorldRow } from '../../db/worlds/worlds.ts';

/** Facts of a world that are cached. */
type LastWorld = Pick<WorldRow, 'slug' | 'headVersionId'>;

export type WorldLookup = {
  get(projectId: string, address: string): LastWorld | undefined;
  note(projectId: string, address: string, world: LastWorld): void;
  /** Drops an entry that has turned out to be stale. */
  forget(projectId: string, address: string): void;
};

const mostWorlds = 10_000;

/** Creates the cache. */
export const createWorldLookup = (): WorldLookup => {
  const known = new LRUCache<string, LastWorld>({ max: mostWorlds });
  const keyOf = (projectId: string, address: string): string => `${projectId}/${address}`;
  return {
    get: (projectId, address) => known.get(keyOf(projectId, address)),
    note: (projectId, address, { slug, headVersionId }) =>
      void known.set(keyOf(projectId, address), { slug, headVersionId }),
    forget: (projectId, address) => void known.delete(keyOf(projectId, address)),
  };
};
