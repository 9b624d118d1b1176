/** Cache of the default browser tier of projects. Each request that opens a session and names no tier needs it. */
import { LRUCache } from 'lru-cache';
import type { BrowserTier } from '#domain/session.ts';
import type { Queryable } from '../db/core/database.ts';
import { findTierSettings } from '../db/projects/browser-tier.ts';

export type DefaultTiers = {
  of(projectId: string): Promise<BrowserTier>;
  /** Drops the entry of a project after its setting was changed on this replica. */
  forget(projectId: string): void;
};

/**
 * Maximum time until a change made on another replica takes effect here, in milliseconds, and maximum number of cached
 * projects.
 */
const believedMs = 2_000;
const mostProjects = 10_000;

/**
 * Creates the cache. `installation` is the tier of projects for which neither the project nor its organization sets
 * one.
 */
export const createDefaultTiers = (db: Queryable, installation: BrowserTier): DefaultTiers => {
  const known = new LRUCache<string, BrowserTier>({ max: mostProjects, ttl: believedMs });
  return {
    async of(projectId) {
      const remembered = known.get(projectId);
      if (remembered !== undefined) return remembered;
      const { project, organization } = await findTierSettings(db, projectId);
      const tier = project ?? organization ?? installation;
      known.set(projectId, tier);
      return tier;
    },
    forget: (projectId) => void known.delete(projectId),
  };
};
