/**
 * Worlds as opens found them last, by what they were asked for: their slug or id. One may have changed since, at any
 * replica; so whoever opens a session by what is remembered has the statement that writes it confirm that.
 */
import { LRUCache } from 'lru-cache';
import type { WorldRow } from '../../db/worlds/worlds.ts';

/** What is remembered of a world. */
type LastWorld = Pick<WorldRow, 'slug' | 'headVersionId'>;

export type WorldLookup = {
  get(projectId: string, address: string): LastWorld | undefined;
  note(projectId: string, address: string, world: LastWorld): void;
  /** It is not so any more. */
  forget(projectId: string, address: string): void;
};

const mostWorlds = 10_000;

/** Makes the memory. */
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
