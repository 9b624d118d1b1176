/** What never changes of a session, in memory: so that a call costs no look at its session. */
import type { Queryable } from '../db/pool.ts';
import { findSession } from '../db/sessions.ts';

export type Facts = { versionId: string };

export type SessionFacts = {
  /** The facts of a project's session; undefined when it has none of this id. */
  get(projectId: string, sessionId: string): Promise<Facts | undefined>;
};

const mostKept = 20_000;

/** Makes the cache. */
export const createSessionFacts = (db: Queryable): SessionFacts => {
  const kept = new Map<string, Facts>();
  return {
    async get(projectId, sessionId) {
      const name = `${projectId}/${sessionId}`;
      const known = kept.get(name);
      if (known !== undefined) return known;
      const session = await findSession(db, projectId, sessionId);
      if (session === undefined) return undefined;
      if (kept.size >= mostKept) kept.clear();
      const facts = { versionId: session.versionId };
      kept.set(name, facts);
      return facts;
    },
  };
};
