/**
 * Client for the pool API while the orchestrator leads: one method for each operation, each with a deadline, for one
 * installation. If a host is no longer in the state that a message assumes, the method returns `false` and throws
 * nothing.
 *
 * Requests that change something carry the lease, and the control plane refuses them once another orchestrator has it.
 * The report of a host's current address carries the lease, too, because a successor may know the address better.
 * Reports that a host was launched or has ended carry no lease, since they stay true when another orchestrator leads.
 */
import { AppError } from '#domain/error.ts';
import type { HostEnd, HostState } from '#domain/host.ts';
import type { LedgerMark } from '#domain/ledger.ts';
import { type HostShape, offerOf } from '#pools/pool-config.ts';
import { Secret } from '#runtime/secret.ts';
import type { Client } from '#wire/client.ts';
import type { PoolView, PublishedPool } from '#wire/pool-api/operations.ts';
import * as operations from '#wire/pool-api/operations.ts';
import type { Driver, Launched, LaunchSpec } from '../driver/driver.ts';
import { ask } from './ask.ts';
import type { HeldLease } from './lease.ts';

const answerMs = 5_000;
/** Maximum length of each text of a report, in characters. */
const accountLength = 4_000;

export type AwaitOptions = {
  /**
   * Last known revision: the control plane answers once the view has a newer one. Without it, the control plane answers
   * at once.
   */
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

/** Details of a host's end. */
export type EndAccount = {
  /** The runtime's reason; the owner of the host's session sees it. */
  detail?: string | undefined;
  /** Last output of the host; operators alone see it. */
  output?: string | undefined;
  /** Last ledger entry that the host had written for its session. */
  ledger?: LedgerMark | undefined;
};

export type DrainOptions = EndAccount & {
  reason: HostEnd;
  /** If given, only a host that is still in this state is drained. */
  ifState?: HostState;
};

/** Properties of a driver that the control plane records for each of its hosts. */
export type DriverTraits = Pick<Driver, 'runtime' | 'addressing'>;

export type PoolApi = {
  observe(signal?: AbortSignal): Promise<PoolView>;
  /**
   * Waits until the view changes and returns its new revision. If the view does not change within `holdMs`, returns the
   * old revision.
   */
  awaitChange(options: AwaitOptions): Promise<string>;
  /** Records the intent to launch a host. Throws `exhausted` with `full: 'pool'` when `maxLive` hosts exist. */
  register(shape: HostShape, driver: DriverTraits, maxLive: number): Promise<LaunchSpec>;
  /**
   * Publishes the pools, and why the latest configuration was refused, if it was. With `file`, also the pools file
   * that they come from, which the control plane keeps. Returns the worlds named by the pools that do not exist.
   */
  publish(
    pools: PublishedPool[],
    refused: string | null,
    file: string | undefined,
  ): Promise<string[]>;
  /** Makes a warm host that holds no version load this one. */
  load(hostId: string, versionId: string): Promise<boolean>;
  reportLaunched(hostId: string, launched: Launched): Promise<boolean>;
  /** Reports the current address of a launched host; null if the host has none. */
  reportAddress(hostId: string, address: string | null): Promise<boolean>;
  drain(hostId: string, options: DrainOptions): Promise<boolean>;
  reportGone(hostId: string, reason: HostEnd, account?: EndAccount): Promise<boolean>;
  /** Ends sessions over their limits; returns those that it ended. */
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
 * Creates the pool API client for the holder of a lease. Calls `onDeposed` when the control plane refuses a message
 * because another orchestrator has the lease.
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
    async register(shape, { runtime, addressing }, maxLive) {
      const offer = { pool: shape.pool, runtime, addressing, maxLive, ...offerOf(shape) };
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
 * Returns the pools file that an orchestrator of the installation used last. Returns undefined if the control plane has
 * none, or is of the previous release, which stores none.
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
