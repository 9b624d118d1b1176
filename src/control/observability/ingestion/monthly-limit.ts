/**
 * Limit on the number of events that a project ingests in a month, for projects that set one. The count is cached for a
 * few seconds, so a project may exceed its limit by the events that it sends in that time. Reads are not limited.
 */
import { AppError } from '#domain/error.ts';
import type { Database } from '../../db/core/database.ts';
import { findEventLimit } from '../../db/observability/daily-usage.ts';

export type MonthlyLimit = {
  /** Throws `forbidden` if the project has reached its limit of events for this month. */
  check(projectId: string): Promise<void>;
};

const freshMs = 5_000;
/** Maximum number of projects in the cache; beyond it the cache is cleared. */
const mostProjects = 10_000;

type Known = { limit: number | null; events: number };

const refuse = (limit: number): AppError =>
  new AppError(
    'forbidden',
    `this project has reached its limit of ${limit} events a month: raise the project's setting eventsPerMonth, or send the events again next month`,
  );

/** Creates the limit; `now` returns the present time in milliseconds since 1970. */
export const createMonthlyLimit = (
  db: Database,
  now: () => number = () => performance.now(),
): MonthlyLimit => {
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
