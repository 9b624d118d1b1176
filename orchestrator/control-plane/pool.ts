/**
 * The pool API as an orchestrator uses it while it leads: one method an operation, each under a deadline,
 * for one installation. A host that has meanwhile moved on is an expected answer (`false`), not an error.
 *
 * What changes something is said under the lease, and refused when another has been given it since; so is
 * where a host is reached by now, of which a successor may know better. That a host was launched or has ended is
 * said without: it is true whoever leads.
 */
import { AppError } from '#domain/error.ts';
import type { HostEnd, HostState } from '#domain/host.ts';
import type { LedgerMark } from '#domain/ledger.ts';
import type { RuntimeName } from '#domain/pool.ts';
import { type HostShape, offerOf } from '#pools/pool-config.ts';
import { Secret } from '#runtime/secret.ts';
import type { Client } from '#wire/client.ts';
import type { PoolView, PublishedPool } from '#wire/pool-api/operations.ts';
import * as operations from '#wire/pool-api/operations.ts';
import type { Launched, LaunchSpec } from '../driver/driver.ts';
import { ask } from './ask.ts';
import type { HeldLease } from './lease.ts';

const answerMs = 5_000;
/** Characters of each text. */
const accountLength = 4_000;

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

/** What is known of the end of a host. */
export type EndAccount = {
  /** What its runtime says; whoever has a session on it is told. */
  detail?: string | undefined;
  /** The last that it wrote; operators alone are told. */
  output?: string | undefined;
  /** Last ledger entry that the host had written for its session. */
  ledger?: LedgerMark | undefined;
};

export type DrainOptions = EndAccount & {
  reason: HostEnd;
  /** Drain only a host that is still in this state. */
  ifState?: HostState;
};

export type PoolApi = {
  observe(signal?: AbortSignal): Promise<PoolView>;
  /** Answers the view's revision once it has changed, or the same one when `holdMs` are over. */
  awaitChange(options: AwaitOptions): Promise<string>;
  /** Writes an intent down. Throws `exhausted` with `full: 'pool'` when `maxLive` hosts exist. */
  register(shape: HostShape, runtime: RuntimeName, maxLive: number): Promise<LaunchSpec>;
  /**
   * Says which pools there are, and why the configuration given last is not taken, if so; with `file`, of which
   * file they are, which is kept. Answers the worlds of theirs that nobody has made.
   */
  publish(
    pools: PublishedPool[],
    refused: string | null,
    file: string | undefined,
  ): Promise<string[]>;
  /** Has a warm host that holds nothing load a version. */
  load(hostId: string, versionId: string): Promise<boolean>;
  reportLaunched(hostId: string, launched: Launched): Promise<boolean>;
  /** Says where a launched host is reached by now; null: nowhere. */
  reportAddress(hostId: string, address: string | null): Promise<boolean>;
  drain(hostId: string, options: DrainOptions): Promise<boolean>;
  reportGone(hostId: string, reason: HostEnd, account?: EndAccount): Promise<boolean>;
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

const accountBody = ({ detail = '', output = '' }: EndAccount) => ({
  ...(detail === '' ? {} : { detail: detail.slice(-accountLength) }),
  ...(output === '' ? {} : { output: output.slice(-accountLength) }),
});

/**
 * The pool API for whoever has been given a lease. `onDeposed` is called when a message is refused
 * because another has it by now.
 */
export const createPoolApi = (client: Client, held: HeldLease, onDeposed: () => void): PoolApi => {
  const { installation, epoch } = held;
  const lease = epoch === undefined ? {} : { lease: { ...held, epoch } };
  const send = async <Answered>(request: Promise<Answered>): Promise<Answered> => {
    try {
      return await request;
    } catch (error) {
      if (error instanceof AppError && error.code === 'forbidden') onDeposed();
      throw error;
    }
  };

  return {
    async observe(signal) {
      const query = { installation };
      const input = signal === undefined ? { query } : { query, signal };
      return (await ask(client, operations.observePool, input, answerMs)).body;
    },
    async awaitChange({ after, holdMs, signal }) {
      const since = after === undefined ? {} : { after };
      const query = { installation, brief: true, hold: holdMs / 1000, ...since };
      const input = { query, signal };
      return (await ask(client, operations.observePool, input, holdMs + answerMs)).body.revision;
    },
    async register(shape, runtime, maxLive) {
      const offer = { pool: shape.pool, runtime, maxLive, ...offerOf(shape) };
      const body = { ...lease, installation, ...offer };
      const answer = await send(ask(client, operations.registerHost, { body }, answerMs));
      const { hostId, generation, token } = answer.body;
      return { hostId, generation, token: new Secret(token), shape };
    },
    async publish(pools, refused, file) {
      const kept = file === undefined ? {} : { file };
      const body = { ...lease, installation, pools, refused, ...kept };
      return (await send(ask(client, operations.publishPools, { body }, answerMs))).body
        .unknownWorlds;
    },
    load(hostId, versionId) {
      const input = { params: { hostId }, body: { ...lease, versionId } };
      return unlessMovedOn(send(ask(client, operations.loadHost, input, answerMs)));
    },
    reportLaunched(hostId, launched) {
      const input = { params: { hostId }, body: launched };
      return unlessMovedOn(ask(client, operations.reportLaunched, input, answerMs));
    },
    reportAddress(hostId, address) {
      const input = { params: { hostId }, body: { ...lease, address } };
      return unlessMovedOn(send(ask(client, operations.reportLaunched, input, answerMs)));
    },
    drain(hostId, { reason, ifState, ...account }) {
      const only = ifState === undefined ? {} : { ifState };
      const body = { ...lease, reason, ...accountBody(account), ...only };
      const input = { params: { hostId }, body };
      return unlessMovedOn(send(ask(client, operations.drainHost, input, answerMs)));
    },
    reportGone(hostId, reason, account = {}) {
      const ledger = account.ledger === undefined ? {} : { ledger: account.ledger };
      const input = { params: { hostId }, body: { reason, ...accountBody(account), ...ledger } };
      return unlessMovedOn(ask(client, operations.reportGone, input, answerMs));
    },
    async reap(limits) {
      const body = { ...lease, ...limits };
      return (await send(ask(client, operations.reap, { body }, answerMs))).body.ended;
    },
  };
};

/**
 * The file of pools that an orchestrator of the installation used last; undefined when none was kept, or by a
 * control plane of the release before.
 */
export const readKeptPoolsFile = async (
  client: Client,
  installation: string,
): Promise<string | undefined> => {
  try {
    const input = { query: { installation } };
    return (await ask(client, operations.readPoolsFile, input, answerMs)).body.file ?? undefined;
  } catch (error) {
    if (hasMovedOn(error)) return undefined;
    throw error;
  }
};
