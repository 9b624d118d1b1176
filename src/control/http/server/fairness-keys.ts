/**
 * On whose behalf a request is made, where callers share what there is: a project for what it asks and
 * for what the hosts of its sessions tell. So a project has no more of it with many hosts.
 */
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../db/core/database.ts';
import { findServedProject } from '../../db/sessions/sessions.ts';
import type { Caller } from './endpoint.ts';

/** The name of whoever it is; a host's that serves no session is its own. */
export type FindAsker = (caller: Caller, params: unknown) => Promise<string>;

/** A host that has gone on to another project's session counts for the former one at most so long. */
const keptMs = 5_000;
const mostKept = 10_000;

/** Makes it. It looks a host's session up, and remembers it for a moment. */
export const createFindAsker = (db: Queryable): FindAsker => {
  const known = new LRUCache<string, Promise<string>>({ max: mostKept, ttl: keptMs });

  const look = async (hostId: string, sessionId: string): Promise<string> =>
    (await findServedProject(db, hostId, sessionId)) ?? hostId;

  const ofHost = (hostId: string, sessionId: string): Promise<string> => {
    const key = `${hostId} ${sessionId}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const asker = look(hostId, sessionId);
    known.set(key, asker);
    asker.catch(() => known.delete(key));
    return asker;
  };

  return async (caller, params) => {
    if ('projectId' in caller) return caller.projectId;
    if ('organizationId' in caller) return caller.atProject ?? caller.organizationId;
    if (!('hostId' in caller)) return 'operators';
    const { sessionId } = (params ?? {}) as { sessionId?: string };
    return sessionId === undefined ? caller.hostId : ofHost(caller.hostId, sessionId);
  };
};
