/**
 * Brings waiting sessions and warm hosts together after the fact. An open that found no host and a
 * host that found no session each look once more when their own write is done: whichever came second
 * sees the other. A polling host looks, too, in case the process died between the two.
 *
 * A host that holds a world version nobody waits for is left to the planner (`orchestrator/plan/plan.ts`),
 * which alone knows whether there is room for a fresh one and drains what stands in the way.
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
   * Looks for warm hosts for a session that waits, and sends notices about what was placed. Each host that fits is given
   * to the session that has waited longest of those that could have it, which may be another one. The
   * session's row says by then that it waits: so a host that gets warm after the look finds it itself.
   */
  placeSession(sessionId: string): Promise<void>;
  /**
   * Gives a warm host the session that has waited longest of those it fits; true when there was one. The
   * host's row says by then that it is warm: so a session that begins to wait after the look finds it itself.
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

/** One connection holds the lock for so many of them at most, before others get their turn. */
const seekersAtOnce = 50;

/**
 * Places what this process is asked to, all that have come meanwhile in one transaction: each with a
 * transaction of its own would take up a connection while it waits for the lock, and under load those are
 * all that there are.
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
    // It serves whoever else seeks, too, so it waits for no project's turn.
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
  notifications.tell(placed.hostId, placed.sessionId, poolTopic);
};

/** Makes it. */
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
      if (!placed.some((one) => one.sessionId === sessionId)) parts.notifications.tell(poolTopic);
    },
    placeHost: async (hostId) => (await place({ kind: 'host', id: hostId })).length > 0,
  };
};
