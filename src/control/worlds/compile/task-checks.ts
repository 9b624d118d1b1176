/**
 * Cache of the checks of inline tasks: opens of many sessions on one task share one job while it runs, and its verdict
 * afterwards. Specs that wait for their check are bounded by bytes, for each project and in all.
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
 * Returns the verdict on a task: a cached one, that of a check under way, or a new one. Throws what the job throws,
 * `exhausted` and `unavailable`.
 */
export type CheckTaskOnce = (job: CheckJob, context: JobContext) => Promise<Outcome>;

/** Check under way, with the number of requests that wait for it. */
type Flight = { outcome: Promise<Outcome>; waiting: number; left: AbortController };

const mib = 1024 * 1024;

/** Size budget of the cached verdicts, and the bytes of one besides its problems. */
const verdictsBytes = 8 * mib;
const verdictBytes = 512;

/** Size budgets for the specs of checks under way, of one project and of all. */
const specBytes = { one: 64 * mib, all: 256 * mib };

const retryAfterMs = 2_000;

const tooMuch = (): AppError =>
  new AppError('exhausted', 'too much waits already to be checked; open the next session later', {
    detail: { quota: 'compile_queue', retryAfterMs },
  });

const givenUp = (): AppError =>
  new AppError('unavailable', 'the task was not checked: the client did not wait for it');

/** Returns the cache key of a task and its world; undefined for a task that is too large to hash here. */
const keyOf = ({ world, specJson, linkedTools = [] }: CheckJob): string | undefined => {
  if (specJson.length > limits.bodyBytes) return undefined;
  const hash = createHash('sha256')
    .update(specJson)
    .update(`\0${linkedTools.join('\0')}`);
  return `${world.project} ${world.digest} ${hash.digest('base64')}`;
};

/**
 * Returns true for a verdict on the task; an outcome that a limit ended may differ the next time, so it is not cached.
 */
const isVerdict = (outcome: Outcome): outcome is CheckedTask => outcome.ok || 'fields' in outcome;

const sizeOf = (verdict: CheckedTask): number =>
  verdict.ok
    ? verdictBytes + 2 * (verdict.specJson?.length ?? 0)
    : verdictBytes + 2 * JSON.stringify(verdict.fields).length;

/** Waits for a check until the client disconnects; the last one that disconnects cancels the check. */
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

/** Creates the cache over the function that runs a check. */
export const createTaskChecks = (
  check: (job: CheckJob, context: JobContext) => Promise<unknown>,
): CheckTaskOnce => {
  const verdicts = createFairCache<CheckedTask>(verdictsBytes);
  const flights = new Map<string, Flight>();
  const specs = createByteBudget(specBytes);

  /** Runs the check, whatever becomes of the request that started it, and caches its verdict. */
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
