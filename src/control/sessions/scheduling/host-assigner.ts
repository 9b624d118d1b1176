/**
 * Assigns warm hosts to waiting sessions after their rows are written. An open that found no host looks once more
 * after its own write, and so does a host that found no session. So the later one sees the other. A polling host
 * looks, too, in case a process died between the two.
 *
 * A host that has loaded a world version which no session waits for is left to the planner
 * (`orchestrator/plan/plan.ts`). Only the planner knows if there is room for a fresh host, and drains hosts that block
 * it.
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
   * Looks for warm hosts for a waiting session and notifies of all assignments. Each suitable host gets the session
   * that has waited longest of those that fit it, which may be another one. The session's row must already say that it
   * waits, so that a host that becomes warm after the look finds it.
   */
  placeSession(sessionId: string): Promise<void>;
  /**
   * Assigns a warm host to the session that has waited longest of those it fits; returns true if there was one. The
   * host's row must already say that it is warm, so that a session that starts to wait after the look finds it.
   */
  placeHost(hostId: string): Promise<boolean>;
};

type PlacerParts = {
  admission: Pick<Admission, 'placed'>;
  db: Database;
  log: Log;
  metrics: Metrics;
  notifications: Notifications;
  tracer: Tracer;
};

type Waiting = Candidate & { found: PromiseWithResolvers<Assignment[]> };

/** Maximum number of candidates placed under one lock, so that other connections get their turn. */
const seekersAtOnce = 50;

/**
 * Batches the placements of this process: all that arrived meanwhile share one transaction. With a transaction each,
 * every one would occupy a connection while it waits for the lock, and under load that would use up all connections.
 */
const createSeeking = (db: Database) => {
  const seekers = new Map<string, Waiting>();
  let isPlacing = false;

  const placeThem = async (): Promise<void> => {
    isPlacing = true;
    while (seekers.size > 0) {
      const turn = [...seekers.values()].slice(0, seekersAtOnce);
      for (const { id } of turn) seekers.delete(id);
      try {
        const placed = await assignAll(db, turn);
        for (const [index, { found }] of turn.entries()) found.resolve(placed[index] ?? []);
      } catch (error) {
        for (const { found } of turn) found.reject(error);
      }
    }
    isPlacing = false;
  };

  return async ({ kind, id }: Candidate): Promise<Assignment[]> => {
    if (!(await mayAssign(db, kind))) return [];
    const seeker = seekers.get(id) ?? { kind, id, found: Promise.withResolvers() };
    seekers.set(id, seeker);
    // A batch serves several projects, so it takes no project's turn.
    if (!isPlacing) void forNoProject(placeThem);
    return seeker.found.promise;
  };
};

const tellPlaced = (parts: PlacerParts, placed: Assignment): void => {
  const { admission, log, metrics, notifications, tracer } = parts;
  admission.placed(placed);
  log.info(placed, 'session placed');
  const endedMs = Date.now();
  tracer.add(placed.sessionId, { name: 'wait', beganMs: endedMs - placed.waitedMs, endedMs });
  metrics.claimSeconds.observe({ start: 'cold' }, placed.waitedMs / 1_000);
  notifications.notify(placed.hostId, placed.sessionId, poolTopic);
};

/** Creates the assigner. */
export const createHostAssigner = (parts: PlacerParts): HostAssigner => {
  const seek = createSeeking(parts.db);
  const place = async (seeker: Candidate): Promise<Assignment[]> => {
    const placed = await seek(seeker);
    for (const one of placed) tellPlaced(parts, one);
    return placed;
  };
  return {
    async placeSession(sessionId) {
      const placed = await place({ kind: 'session', id: sessionId });
      if (!placed.some((one) => one.sessionId === sessionId)) parts.notifications.notify(poolTopic);
    },
    placeHost: async (hostId) => (await place({ kind: 'host', id: hostId })).length > 0,
  };
};
