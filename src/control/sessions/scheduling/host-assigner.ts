/**
 * Assigns warm hosts to waiting sessions. An open that found no warm host looks for one again after its row is written,
 * and a host that found no waiting session does the same. So whichever of the two is written later finds the other. A
 * polling host also looks for a session, in case a process died between a write and the second look. A host that has
 * loaded a world version which no session waits for is left to the planner (`orchestrator/plan/plan.ts`). Only the
 * planner knows if there is capacity for a fresh host, and it drains hosts that take up that capacity.
 */
import type { Log } from '#runtime/log.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { Database } from '../../db/core/database.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import {
  type Assignment,
  assignAll,
  type Candidate,
  mayAssign,
} from '../../db/sessions/assignment.ts';
import { type Notifications, poolTopic } from '../../platform/notifications/notifications.ts';
import type { Metrics } from '../../platform/telemetry/counters.ts';
import type { Admission } from './admission.ts';

export type HostAssigner = {
  /**
   * Looks for warm hosts for a waiting session and notifies of all assignments. Each suitable host gets the
   * longest-waiting session that fits it, which may be a session other than the given one. The session's row must
   * already be stored as waiting. Then a host that becomes warm after this lookup finds the session.
   */
  assignSession(sessionId: string): Promise<void>;
  /**
   * Assigns a warm host to the longest-waiting session that fits it; returns true if there was one. The host's row must
   * already be stored as warm. Then a session that starts to wait after this lookup finds the host.
   */
  assignHost(hostId: string): Promise<boolean>;
};

type AssignerParts = {
  admission: Pick<Admission, 'assigned'>;
  db: Database;
  log: Log;
  metrics: Metrics;
  notifications: Notifications;
  tracer: Tracer;
};

type Waiting = Candidate & { found: PromiseWithResolvers<Assignment[]> };

/** Maximum number of candidates in one batch. It is limited so that other connections also get the lock. */
const candidatesAtOnce = 50;

/**
 * Batches the assignments of this process: all candidates that arrive during one transaction share the next. If each
 * candidate had its own transaction, each would occupy a connection while it waits for the lock. Under load that would
 * use up all connections.
 */
const createAssignmentBatches = (db: Database) => {
  const candidates = new Map<string, Waiting>();
  let isAssigning = false;

  const assignBatches = async (): Promise<void> => {
    isAssigning = true;
    while (candidates.size > 0) {
      const batch = [...candidates.values()].slice(0, candidatesAtOnce);
      for (const { id } of batch) candidates.delete(id);
      try {
        const assigned = await assignAll(db, batch);
        for (const [index, { found }] of batch.entries()) found.resolve(assigned[index] ?? []);
      } catch (error) {
        for (const { found } of batch) found.reject(error);
      }
    }
    isAssigning = false;
  };

  return async ({ kind, id }: Candidate): Promise<Assignment[]> => {
    if (!(await mayAssign(db, kind))) return [];
    const candidate = candidates.get(id) ?? { kind, id, found: Promise.withResolvers() };
    candidates.set(id, candidate);
    // A batch serves several projects, so it does not use the project's share of connections.
    if (!isAssigning) void forNoProject(assignBatches);
    return candidate.found.promise;
  };
};

const announce = (parts: AssignerParts, assigned: Assignment): void => {
  const { admission, log, metrics, notifications, tracer } = parts;
  admission.assigned(assigned);
  log.info(assigned, 'session assigned to a host');
  const endedMs = Date.now();
  tracer.add(assigned.sessionId, { name: 'wait', beganMs: endedMs - assigned.waitedMs, endedMs });
  metrics.claimSeconds.observe({ start: 'cold' }, assigned.waitedMs / 1_000);
  notifications.notify(assigned.hostId, assigned.sessionId, poolTopic);
};

/** Creates the assigner. */
export const createHostAssigner = (parts: AssignerParts): HostAssigner => {
  const assignInBatch = createAssignmentBatches(parts.db);
  const assign = async (candidate: Candidate): Promise<Assignment[]> => {
    const assigned = await assignInBatch(candidate);
    for (const one of assigned) announce(parts, one);
    return assigned;
  };
  return {
    async assignSession(sessionId) {
      const assigned = await assign({ kind: 'session', id: sessionId });
      if (!assigned.some((one) => one.sessionId === sessionId))
        parts.notifications.notify(poolTopic);
    },
    assignHost: async (hostId) => (await assign({ kind: 'host', id: hostId })).length > 0,
  };
};
