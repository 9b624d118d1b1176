/** The tier of a project's sessions that name none, remembered for a moment: each open asks for it. */
import { LRUCache } from 'lru-cache';
import type { BrowserTier } from '#domain/session.ts';
import type { Queryable } from '../db/core/database.ts';
import { findTierSettings } from '../db/projects/browser-tier.ts';

export type DefaultTiers = {
  of(projectId: string): Promise<BrowserTier>;
  /** The project's setting was changed here. */
  forget(projectId: string): void;
};

/** Milliseconds for which another replica's change may not be seen, and the projects that are remembered. */
const believedMs = 2_000;
const mostProjects = 10_000;

/** Makes the memory; `installation` holds where neither project nor organization says anything. */
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
