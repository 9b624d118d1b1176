/**
 * The bound on a month's events, where a project has set one. How many there were is read once in a while for each
 * project, so a project may go over by what it sends within seconds; reads are not concerned.
 */
import { AppError } from '#domain/error.ts';
import type { Database } from '../../db/core/database.ts';
import { findEventLimit } from '../../db/observability/daily-usage.ts';

export type Month = {
  /** Throws `forbidden` when the project has taken as many events this month as it may. */
  check(projectId: string): Promise<void>;
};

const freshMs = 5_000;
/** Projects that are remembered; beyond that all are forgotten, and read anew. */
const mostProjects = 10_000;

type Known = { limit: number | null; events: number };

const refuse = (limit: number): AppError =>
  new AppError(
    'forbidden',
    `this project takes ${limit} events a month, and has taken them; more are taken next month, or once its setting eventsPerMonth is higher`,
  );

/** Makes it. The clock is in milliseconds. */
export const createMonth = (db: Database, now: () => number = () => performance.now()): Month => {
  const known = new Map<string, { until: number; read: Promise<Known> }>();
  const read = (projectId: string): Promise<Known> => {
    const kept = known.get(projectId);
    if (kept !== undefined && kept.until > now()) return kept.read;
    if (known.size >= mostProjects) known.clear();
    const fresh = findEventLimit(db, projectId);
    known.set(projectId, { until: now() + freshMs, read: fresh });
    fresh.catch(() => known.delete(projectId));
    return fresh;
  };
  return {
    async check(projectId) {
      const { limit, events } = await read(projectId);
      if (limit !== null && events >= limit) throw refuse(limit);
    },
  };
};
