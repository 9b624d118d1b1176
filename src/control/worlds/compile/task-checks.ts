/**
 * Cache of the results of checks of inline tasks. If many sessions are opened with the same task, they share one check
 * while it runs, and its result afterwards. The total size of specs that wait for their check is limited, for each
 * project and for all together.
 */
import { createHash } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { createByteBudget } from '../../base/fairness/byte-budget.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import type { CheckedTask } from './check-task.ts';
import type { Job, Outcomes } from './job.ts';
import type { JobContext } from './process-pool.ts';

type CheckJob = Job<'check-task'>;
type Outcome = Outcomes['check-task'];

/**
 * Returns the result of a check of the task: a cached result, or the result of a check that is running already or is
 * started now. Throws `exhausted`, `unavailable`, and what the job throws.
 */
export type CheckTaskOnce = (job: CheckJob, context: JobContext) => Promise<Outcome>;

/** Check that is running, with the number of requests that wait for it. */
type Flight = { outcome: Promise<Outcome>; waiting: number; left: AbortController };

const mib = 1024 * 1024;

/** Maximum size of the cached results, in bytes, and estimated bytes of one result besides its problems. */
const verdictsBytes = 8 * mib;
const verdictBytes = 512;

/** Maximum total size of the specs whose checks are running: of one project and of all, in bytes. */
const specBytes = { one: 64 * mib, all: 256 * mib };

const retryAfterMs = 2_000;

const tooMuch = (): AppError =>
  new AppError(
    'exhausted',
    'too many task specs already wait to be checked; open the session later',
    {
      detail: { quota: 'compile_queue', retryAfterMs },
    },
  );

const givenUp = (): AppError =>
  new AppError('unavailable', 'the task was not checked: the client disconnected');

/** Returns the cache key of a task and its world; undefined if the task is too large to be hashed in this process. */
const keyOf = ({ world, specJson, linkedTools = [] }: CheckJob): string | undefined => {
  if (specJson.length > limits.bodyBytes) return undefined;
  const hash = createHash('sha256')
    .update(specJson)
    .update(`\0${linkedTools.join('\0')}`);
  return `${world.project} ${world.digest} ${hash.digest('base64')}`;
};

/**
 * Returns true if the outcome is a result of the check. If a limit ended the check, the outcome may differ the next
 * time, so it is not cached.
 */
const isVerdict = (outcome: Outcome): outcome is CheckedTask => outcome.ok || 'fields' in outcome;

const sizeOf = (verdict: CheckedTask): number =>
  verdict.ok
    ? verdictBytes + 2 * (verdict.specJson?.length ?? 0)
    : verdictBytes + 2 * JSON.stringify(verdict.fields).length;

/** Waits for a check until the client disconnects. When the last waiting client disconnects, the check is cancelled. */
const board = (flight: Flight, signal: AbortSignal | undefined): Promise<Outcome> => {
  flight.waiting += 1;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      flight.waiting -= 1;
      if (flight.waiting === 0) flight.left.abort();
      reject(givenUp());
    };
    if (signal?.aborted === true) leave();
    else signal?.addEventListener('abort', leave, { once: true });
    flight.outcome.finally(() => signal?.removeEventListener('abort', leave)).then(resolve, reject);
  });
};

/** Creates the cache. `check` runs a check. */
export const createTaskChecks = (
  check: (job: CheckJob, context: JobContext) => Promise<unknown>,
): CheckTaskOnce => {
  const verdicts = createFairCache<CheckedTask>(verdictsBytes);
  const flights = new Map<string, Flight>();
  const specs = createByteBudget(specBytes);

  /** Runs the check and caches its result, even if the request that started the check has ended. */
  const fly = async (
    job: CheckJob,
    context: JobContext,
    key: string | undefined,
  ): Promise<Outcome> => {
    const taken = specs.take(context.project, job.specJson.length);
    if (typeof taken === 'string') throw tooMuch();
    try {
      const outcome = (await check(job, context)) as Outcome;
      if (key !== undefined && isVerdict(outcome)) {
        const owner = context.project;
        verdicts.keep({ key, owner, bytes: sizeOf(outcome), value: outcome });
      }
      return outcome;
    } finally {
      taken.giveBack();
    }
  };

  const depart = (job: CheckJob, context: JobContext, key: string): Flight => {
    const left = new AbortController();
    const outcome = fly(job, { ...context, signal: left.signal }, key);
    const flight: Flight = { outcome, waiting: 0, left };
    flights.set(key, flight);
    const forget = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    left.signal.addEventListener('abort', forget, { once: true });
    outcome.then(forget, forget);
    return flight;
  };

  return async (job, context) => {
    const key = keyOf(job);
    if (key === undefined) return fly(job, context, key);
    const known = verdicts.get(key);
    if (known !== undefined) return known;
    return board(flights.get(key) ?? depart(job, context, key), context.signal);
  };
};
