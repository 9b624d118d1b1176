/**
 * Determines the fairness key of a request, under which shared limits count it. For requests of a project and of the
 * hosts of its sessions, the key is the project. A project with many hosts therefore gets no larger share.
 */
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../db/core/database.ts';
import { findServedProject } from '../../db/sessions/sessions.ts';
import type { Caller } from './endpoint.ts';

/** Returns the fairness key of a caller. The key of a host that serves no session is the host itself. */
export type FindFairnessKey = (caller: Caller, params: unknown) => Promise<string>;

/**
 * Maximum time for which a host still counts for its former project after it has begun to serve another project's
 * session, in milliseconds.
 */
const keptMs = 5_000;
const mostKept = 10_000;

/** Creates the lookup. It reads the session of a host from the database and caches the result for a few seconds. */
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
