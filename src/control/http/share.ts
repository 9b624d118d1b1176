/** What each request has of what projects share: turns at the database, and a hold while it waits. */
import { AppError } from '#domain/error.ts';
import { forProject } from '../db/turns.ts';
import type { Metrics } from '../metrics/counters.ts';
import { type Quotas, quotaError } from '../shares/quotas.ts';
import type { Caller } from './endpoint.ts';

/** Does a request's work within its project's share; what no project asks for is done as it is. */
export type Share = <Value>(
  caller: Caller,
  query: unknown,
  work: () => Promise<Value>,
) => Promise<Value>;

/**
 * Requests that hold their answer (`?wait=`). Each is a connection and some memory of this process while
 * nothing happens, so a project has so many of them at once and no more.
 */
type Holds = {
  /** Does work that may hold its answer; throws `exhausted` when the project holds too many. */
  hold<Value>(projectId: string, work: () => Promise<Value>): Promise<Value>;
};

/** Makes it; nothing is counted of a project that holds none. */
const createHolds = (most: number): Holds => {
  const held = new Map<string, number>();
  return {
    async hold(projectId, work) {
      const count = held.get(projectId) ?? 0;
      if (count >= most) throw quotaError({ quota: 'waits', limit: most, retryAfterMs: 1_000 });
      held.set(projectId, count + 1);
      try {
        return await work();
      } finally {
        const left = (held.get(projectId) ?? 1) - 1;
        if (left === 0) held.delete(projectId);
        else held.set(projectId, left);
      }
    },
  };
};

const isWaiting = (query: unknown): boolean =>
  Number((query as { wait?: unknown } | undefined)?.wait ?? 0) > 0;

/** Makes it; what is refused for a quota is counted, whoever refused it. */
export const createShare = (quotas: Quotas, { quotaRefusals }: Metrics): Share => {
  const holds = createHolds(quotas.waits);
  return async (caller, query, work) => {
    if ('organizationId' in caller)
      return forProject(caller.atProject ?? caller.organizationId, work);
    if (!('projectId' in caller)) return work();
    const { projectId } = caller;
    const begin = () => forProject(projectId, work);
    try {
      return await (isWaiting(query) ? holds.hold(projectId, begin) : begin());
    } catch (error) {
      const quota = error instanceof AppError ? error.detail.quota : undefined;
      if (typeof quota === 'string') quotaRefusals.inc({ quota });
      throw error;
    }
  };
};
