/** What never changes of a session, in memory: so that a call costs no look at its session. */

import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { Queryable } from '../../db/core/database.ts';
import { findSession, type SessionRow } from '../../db/sessions/sessions.ts';

export type Facts = {
  versionId: string;
  /** The tools that the task gives; null: all. */
  taskTools: string[] | null;
};

export type SessionFacts = {
  /** The facts of a project's session; undefined when it has none of this id. */
  get(projectId: string, sessionId: string): Promise<Facts | undefined>;
  /** Keeps those of a session that was just opened. */
  note(session: SessionRow): void;
};

/** What all of them may take, and one of them. */
const mostBytes = 10 * 1024 * 1024;
const factsBytes = 512;
const nameBytes = 64;

/** Makes the cache. */
export const createSessionFacts = (db: Queryable): SessionFacts => {
  const kept = createFairCache<Facts>(mostBytes);
  const keyOf = (projectId: string, sessionId: string): string => `${projectId}/${sessionId}`;
  const keep = ({ id, projectId, versionId, taskTools }: SessionRow): Facts => {
    const value = { versionId, taskTools };
    const names = taskTools ?? [];
    const bytes = names.reduce((sum, { length }) => sum + nameBytes + 2 * length, factsBytes);
    kept.keep({ key: keyOf(projectId, id), owner: projectId, bytes, value });
    return value;
  };
  return {
    note: keep,
    async get(projectId, sessionId) {
      const known = kept.get(keyOf(projectId, sessionId));
      if (known !== undefined) return known;
      const session = await findSession(db, projectId, sessionId);
      if (session === undefined) return undefined;
      return keep(session);
    },
  };
};
