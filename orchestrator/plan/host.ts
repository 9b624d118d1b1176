/**
 * Plans the step for one host by its own condition, whatever its pool needs: the table "Rows and containers" of
 * docs/internals/orchestrator.md, from top to bottom.
 */
import type { HostEnd } from '#domain/host.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Container } from '../driver/driver.ts';
import { ageLimitMs } from './age.ts';
import type { Action, Deadlines, PoolSettings } from './terms.ts';

/** Inputs for judging hosts: the time limits, and how long the control plane has answered without a gap. */
export type Judging = { steadyMs: number; deadlines: Deadlines };

/**
 * Returns true if a state has lasted longer than allowed. The age of the state is the one that the control plane
 * reports, so it is the same whichever orchestrator led meanwhile. While the control plane was away, no host could
 * report. After a gap, a host therefore first gets the time in which a living host reports again, or its whole limit if
 * that is shorter.
 */
const isOver = (ageMs: number, limitMs: number, { steadyMs, deadlines }: Judging): boolean =>
  ageMs > limitMs && steadyMs > Math.min(limitMs, deadlines.heardMs);

const lives = (container: Container | undefined): container is Container =>
  container?.phase === 'running' || container?.phase === 'pending';

/** Returns why a row's container no longer serves; undefined while it may still appear. */
const goneReason = (
  host: PoolHost,
  container: Container | undefined,
  { intentMs }: Deadlines,
): HostEnd | undefined => {
  if (container?.phase === 'exited') {
    return container.reclaimed === undefined ? (container.exit?.reason ?? 'exited') : 'reclaimed';
  }
  if (host.launched || host.state !== 'starting') return 'exited';
  return host.stateAgeMs > intentMs ? 'start_timeout' : undefined;
};

/**
 * Returns why a host is to be replaced once it serves no session: its digest differs from its pool's current one, or
 * it is older than its pool allows. Undefined when it is as good as a new one.
 */
export const staleness = (
  host: PoolHost,
  container: Container | undefined,
  { config, digest }: PoolSettings,
): HostEnd | undefined => {
  if (container !== undefined && container.digest !== digest) return 'outdated';
  const { maxAgeMs, maxAgeJitter } = config;
  if (maxAgeMs === null || host.ageMs <= maxAgeMs * (1 - maxAgeJitter)) return undefined;
  return host.ageMs > ageLimitMs(host.id, maxAgeMs, maxAgeJitter) ? 'max_age' : undefined;
};

/**
 * Returns why the orchestrator stops waiting for a host that is not warm yet; undefined while the host may still become
 * warm.
 */
const startFailure = (
  { stateAgeMs }: PoolHost,
  { trouble, digest }: Container,
  pool: PoolSettings,
  judging: Judging,
): HostEnd | undefined => {
  if (trouble !== undefined && digest !== pool.digest) return 'outdated';
  const mayPass = trouble === undefined || trouble.kind === 'unschedulable';
  const limitMs = mayPass ? pool.config.startMs : judging.deadlines.troubleMs;
  if (!isOver(stateAgeMs, limitMs, judging)) return undefined;
  return trouble?.kind ?? 'start_timeout';
};

/** Returns why a host with a living container must leave service; undefined when it may stay. */
const drainReason = (
  host: PoolHost,
  container: Container,
  pool: PoolSettings | undefined,
  judging: Judging,
): HostEnd | undefined => {
  const { deadlines } = judging;
  const { state } = host;
  const isSilent = state !== 'starting' && isOver(host.silentMs ?? 0, deadlines.silentMs, judging);
  if (container.reclaimed !== undefined) {
    const saysGoodbye = state === 'assigned' && container.reclaimed.forMs <= deadlines.goodbyeMs;
    if (isSilent || !saysGoodbye) return 'reclaimed';
  }
  if (isSilent) return 'silent';
  if (state === 'assigned') return undefined;
  if (pool === undefined) return 'surplus';
  if (state === 'starting') return startFailure(host, container, pool, judging);
  if (state !== 'recycling') return undefined;
  return isOver(host.stateAgeMs, deadlines.recycleMs, judging)
    ? 'recycle_timeout'
    : staleness(host, container, pool);
};

/**
 * Returns a host's current address if its row has another; undefined if the runtime reports none. While a host that
 * serves a session has no address, its row keeps the last one: the host will get another address or fall silent.
 */
const newAddress = (host: PoolHost, { address }: Container): string | null | undefined => {
  if (address === undefined || host.address === undefined || address === host.address) {
    return undefined;
  }
  return address === null && host.state === 'assigned' ? undefined : address;
};

/**
 * Returns the step that one host's own condition requires; `pool` is undefined once the configuration has it no
 * longer.
 */
export const planHost = (
  host: PoolHost,
  container: Container | undefined,
  pool: PoolSettings | undefined,
  judging: Judging,
): Action | undefined => {
  const { id: hostId, pool: poolName, state } = host;
  if (state === 'draining') {
    return container === undefined
      ? { kind: 'report_gone', hostId, pool: poolName, state, reason: 'exited' }
      : { kind: 'destroy', hostId, why: 'draining' };
  }
  if (!lives(container)) {
    const reason = goneReason(host, container, judging.deadlines);
    return reason && { kind: 'report_gone', hostId, pool: poolName, state, reason };
  }
  const reason = drainReason(host, container, pool, judging);
  if (reason !== undefined) return { kind: 'drain', hostId, pool: poolName, state, reason };
  if (!host.launched) return { kind: 'adopt', hostId, pool: poolName, state };
  const address = newAddress(host, container);
  return address === undefined ? undefined : { kind: 'readdress', hostId, pool: poolName, address };
};
