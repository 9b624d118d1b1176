/**
 * Runs each request within its project's share of the service: fair queues for the database, and a limit on waiting
 * requests.
 */
import { AppError } from '#domain/error.ts';
import type { Holds } from '../../base/fairness/request-holds.ts';
import { forProject } from '../../db/core/project-queue.ts';
import type { Metrics } from '../../platform/telemetry/counters.ts';
import type { Caller } from './endpoint.ts';

/** Runs a request's work within the share of its project. Work that belongs to no project runs unlimited. */
export type Share = <Value>(
  caller: Caller,
  query: unknown,
  work: () => Promise<Value>,
) => Promise<Value>;

const isWaiting = (query: unknown): boolean =>
  Number((query as { wait?: unknown } | undefined)?.wait ?? 0) > 0;

const holding = async <Value>(release: () => void, work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work();
  } finally {
    release();
  }
};

/**
 * Creates the function that runs work within a project's share. It counts every refusal because of a quota, whichever
 * part of the program refused the request.
 */
export const createShare = (holds: Holds, { quotaRefusals }: Metrics): Share => {
  return async (caller, query, work) => {
    if ('organizationId' in caller)
      return forProject(caller.atProject ?? caller.organizationId, work);
    if (!('projectId' in caller)) return work();
    const { projectId } = caller;
    const begin = () => forProject(projectId, work);
    try {
      return await (isWaiting(query) ? holding(holds.begin(projectId), begin) : begin());
    } catch (error) {
      const quota = error instanceof AppError ? error.detail.quota : undefined;
      if (typeof quota === 'string') quotaRefusals.inc({ quota });
      throw error;
    }
  };
};
