/** Cache of the immutable facts of sessions, which saves each call a query. */

import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { Queryable } from '../../db/core/database.ts';
import type { SessionRow } from '../../db/sessions/session-row.ts';
import { findSession } from '../../db/sessions/sessions.ts';

export type Facts = {
  versionId: string;
  /** Tools that the task allows; null if it allows all. */
  taskTools: string[] | null;
};

export type SessionFacts = {
  /** Returns the facts of a project's session; undefined if there is no such session. */
  get(projectId: string, sessionId: string): Promise<Facts | undefined>;
  /** Caches the facts of a session that was just opened. */
  note(session: SessionRow): void;
};

/** Maximum size of the cache, and estimated sizes of an entry and of a tool name in it, in bytes. */
const mostBytes = 10 * 1024 * 1024;
const factsBytes = 512;
const nameBytes = 64;

/** Creates the cache. */
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
