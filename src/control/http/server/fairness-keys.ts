/**
 * Determines the key under which a request counts in shared limits: the project, both for its own requests and for
 * those of the hosts of its sessions. A project with many hosts therefore gets no larger share.
 */
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../db/core/database.ts';
import { findServedProject } from '../../db/sessions/sessions.ts';
import type { Caller } from './endpoint.ts';

/** Returns the fairness key of a caller; a host that serves no session has a key of its own. */
export type FindFairnessKey = (caller: Caller, params: unknown) => Promise<string>;

/** Upper bound for how long a host that serves another project's session by now still counts for the former project. */
const keptMs = 5_000;
const mostKept = 10_000;

/** Creates the lookup. It looks a host's session up, and caches the result for a moment. */
export const createFindFairnessKey = (db: Queryable): FindFairnessKey => {
  const known = new LRUCache<string, Promise<string>>({ max: mostKept, ttl: keptMs });

  const look = async (hostId: string, sessionId: string): Promise<string> =>
    (await findServedProject(db, hostId, sessionId)) ?? hostId;

  const ofHost = (hostId: string, sessionId: string): Promise<string> => {
    const key = `${hostId} ${sessionId}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const project = look(hostId, sessionId);
    known.set(key, project);
    project.catch(() => known.delete(key));
    return project;
  };

  return async (caller, params) => {
    if ('projectId' in caller) return caller.projectId;
    if ('organizationId' in caller) return caller.atProject ?? caller.organizationId;
    if (!('hostId' in caller)) return 'operators';
    const { sessionId } = (params ?? {}) as { sessionId?: string };
    return sessionId === undefined ? caller.hostId : ofHost(caller.hostId, sessionId);
  };
};
