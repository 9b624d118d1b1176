/**
 * The pool API as the orchestrator uses it: one method an operation, each under a deadline, for one
 * installation. A host that has meanwhile moved on is an expected answer (`false`), not an error.
 */
import { AppError } from '#domain/error.ts';
import type { HostEnd, HostState } from '#domain/host.ts';
import { Secret } from '#runtime/secret.ts';
import type { Client } from '#wire/client.ts';
import type { Answer, ClientInput, OperationShape } from '#wire/operation.ts';
import type { PoolView, PublishedPool } from '#wire/pool-api/operations.ts';
import * as operations from '#wire/pool-api/operations.ts';
import type { Launched, LaunchSpec, RuntimeName } from './driver/driver.ts';
import { type HostShape, offerOf } from './pools/pool-config.ts';

const answerMs = 5_000;
/** A renewal that takes longer is no use: the lease would run out under it. */
const leaseAnswerMs = 2_000;
const detailLength = 4_000;

export type AwaitOptions = {
  /** The revision to wait beyond; answered at once without one. */
  after: string | undefined;
  holdMs: number;
  signal: AbortSignal;
};

export type ReapLimits = {
  idleMs: number;
  maxAgeMs: number;
  provisionMs: number;
  closingMs: number;
};

export type DrainOptions = {
  reason: HostEnd;
  detail?: string | undefined;
  /** Drain only a host that is still in this state. */
  ifState?: HostState;
};

export type PoolApi = {
  observe(signal?: AbortSignal): Promise<PoolView>;
  /** Answers the view's revision once it has changed, or the same one when `holdMs` are over. */
  awaitChange(options: AwaitOptions): Promise<string>;
  /** Takes or renews the lease; 0 gives it up. Answers whether it is held. */
  lease(ttlMs: number): Promise<boolean>;
  /** Writes an intent down. Throws `exhausted` when `maxLive` hosts exist. */
  register(shape: HostShape, runtime: RuntimeName, maxLive: number): Promise<LaunchSpec>;
  /** Says which pools there are; answers the worlds of theirs that nobody has made. */
  publish(pools: PublishedPool[]): Promise<string[]>;
  /** Has a warm host that holds nothing load a version. */
  load(hostId: string, versionId: string): Promise<boolean>;
  reportLaunched(hostId: string, launched: Launched): Promise<boolean>;
  drain(hostId: string, options: DrainOptions): Promise<boolean>;
  reportGone(hostId: string, reason: HostEnd, detail?: string): Promise<boolean>;
  /** Ends what is over its limits; answers the sessions ended. */
  reap(limits: ReapLimits): Promise<string[]>;
};

const hasMovedOn = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found');

const unlessMovedOn = async (request: Promise<unknown>): Promise<boolean> => {
  try {
    await request;
    return true;
  } catch (error) {
    if (hasMovedOn(error)) return false;
    throw error;
  }
};

const detailBody = (detail: string | undefined): { detail?: string } =>
  detail === undefined || detail === '' ? {} : { detail: detail.slice(-detailLength) };

/** The pool API of one installation; `holder` names this orchestrator in the lease. */
export const createPoolApi = (client: Client, installation: string, holder: string): PoolApi => {
  const send = async <Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
    timeoutMs = answerMs,
  ): Promise<Answer<Shape>> => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal =
      input.signal === undefined ? deadline : AbortSignal.any([input.signal, deadline]);
    try {
      return await client.send(shape, { ...input, signal });
    } catch (cause) {
      if (!deadline.aborted) throw cause;
      throw new AppError('timeout', `${shape.id}: no answer within ${timeoutMs} ms`, { cause });
    }
  };

  return {
    async observe(signal) {
      const query = { installation };
      const input = signal === undefined ? { query } : { query, signal };
      return (await send(operations.observePool, input)).body;
    },
    async awaitChange({ after, holdMs, signal }) {
      const since = after === undefined ? {} : { after };
      const query = { installation, brief: true, hold: holdMs / 1000, ...since };
      const input = { query, signal };
      return (await send(operations.observePool, input, holdMs + answerMs)).body.revision;
    },
    async lease(ttlMs) {
      const body = { installation, holder, ttlMs };
      return (await send(operations.acquireLease, { body }, leaseAnswerMs)).body.held;
    },
    async register(shape, runtime, maxLive) {
      const body = { installation, pool: shape.pool, runtime, maxLive, ...offerOf(shape) };
      const { hostId, generation, token } = (await send(operations.registerHost, { body })).body;
      return { hostId, generation, token: new Secret(token), shape };
    },
    async publish(pools) {
      const body = { installation, pools };
      return (await send(operations.publishPools, { body })).body.unknownWorlds;
    },
    load: (hostId, versionId) =>
      unlessMovedOn(send(operations.loadHost, { params: { hostId }, body: { versionId } })),
    reportLaunched: (hostId, launched) =>
      unlessMovedOn(send(operations.reportLaunched, { params: { hostId }, body: launched })),
    drain: (hostId, { reason, detail, ifState }) =>
      unlessMovedOn(
        send(operations.drainHost, {
          params: { hostId },
          body: { reason, ...detailBody(detail), ...(ifState === undefined ? {} : { ifState }) },
        }),
      ),
    reportGone: (hostId, reason, detail) =>
      unlessMovedOn(
        send(operations.reportGone, {
          params: { hostId },
          body: { reason, ...detailBody(detail) },
        }),
      ),
    async reap(limits) {
      return (await send(operations.reap, { body: limits })).body.ended;
    },
  };
};
