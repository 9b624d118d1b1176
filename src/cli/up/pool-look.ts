/** Asks the control plane of this `svc up` for its world hosts and the number of open sessions. */
import { backoffMs } from '#domain/backoff.ts';
import { AppError } from '#domain/error.ts';
import { browserSize } from '#domain/pool.ts';
import { pause } from '#runtime/pause.ts';
import { type Client, createClient } from '#wire/client.ts';
import { observePool, type PoolHost } from '#wire/pool-api/operations.ts';
import { internalUrl, type Site } from './site.ts';

export type OpenSessions = {
  /** Number of sessions with a host, which end with the service. */
  served: number;
  /** Number of sessions without a host, which continue to wait after a restart. */
  waiting: number;
};

const poolHoldSeconds = 20;
const pauses = { firstMs: 100, mostMs: 1_000 };
const countMs = 1_000;

const poolClient = (site: Site): Client =>
  createClient({
    baseUrl: `${internalUrl(site)}/api/pool`,
    authorization: `Bearer ${site.secrets.poolToken}`,
  });

/** Watches the world hosts until `isEnough` returns true. */
export const watchHosts = async (
  site: Site,
  isEnough: (hosts: PoolHost[]) => boolean,
  signal: AbortSignal,
): Promise<void> => {
  const client = poolClient(site);
  const { installation } = site.secrets;
  let after: string | undefined;
  let failures = 0;
  for (;;) {
    const query = {
      installation,
      hold: poolHoldSeconds,
      ...(after === undefined ? {} : { after }),
    };
    try {
      const { body } = await client.send(observePool, { query, signal });
      failures = 0;
      if (isEnough(body.hosts)) return;
      after = body.revision;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
      failures += 1;
      await pause(backoffMs(failures, pauses), signal); // the control plane is restarting
      signal.throwIfAborted();
    }
  }
};

/** Returns the number of world hosts that wait for a session. */
export const countWarm = (hosts: readonly PoolHost[]): number =>
  hosts.filter(({ kind, state }) => state === 'warm' && kind !== 'browser').length;

/**
 * Returns the number of open sessions; undefined if the control plane does not answer. It asks only once and with a
 * short timeout, because the user waits for the stop.
 */
export const countOpen = async (site: Site): Promise<OpenSessions | undefined> => {
  const { installation } = site.secrets;
  const asking = { query: { installation }, signal: AbortSignal.timeout(countMs) };
  try {
    const { body } = await poolClient(site).send(observePool, asking);
    return {
      served: body.hosts.filter(({ kind, sessionId }) => sessionId !== null && kind !== 'browser')
        .length,
      waiting: body.waiting
        .filter(({ size }) => size !== browserSize)
        .reduce((sum, { count }) => sum + count, 0),
    };
  } catch {
    return undefined; // the control plane is down; `keepRunning` reports that
  }
};
