/**
 * What one host's own condition asks for, whatever its pool needs: the table "Rows and containers" of
 * docs/internals/orchestrator.md, from top to bottom.
 */
import type { HostEnd } from '#domain/host.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Container } from '../driver/driver.ts';
import { ageLimitMs } from './age.ts';
import type { Action, Deadlines, PoolSettings } from './terms.ts';

/** What hosts are judged by. */
export type Judging = { steadyMs: number; deadlines: Deadlines };

/**
 * Whether something has lasted for longer than it may, by its age as the control plane tells it, whoever
 * led meanwhile. While the control plane did not answer, a host could not report either: after a gap it
 * first gets the time that a living one needs to be heard again, or its whole time where that is less.
 */
const isOver = (ageMs: number, limitMs: number, { steadyMs, deadlines }: Judging): boolean =>
  ageMs > limitMs && steadyMs > Math.min(limitMs, deadlines.heardMs);

const lives = (container: Container | undefined): container is Container =>
  container?.phase === 'running' || container?.phase === 'pending';

/** Why a row's container is known not to serve any more; undefined while it may still come. */
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
 * Why a host is to be replaced once it serves nobody: what it was made from is not what its pool is
 * made from now, or it is older than its pool lets it grow. Undefined when it is as good as a new one.
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

/** Why a host that has not become warm yet is given up. */
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

/** Why a host whose container lives must leave service; undefined when it may stay. */
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
 * Where a host is reached by now, if that is not what its row says; undefined where nobody tells. One that
 * serves a session keeps its last address while it has none: it comes back with another, or falls silent.
 */
const newAddress = (host: PoolHost, { address }: Container): string | null | undefined => {
  if (address === undefined || host.address === undefined || address === host.address) {
    return undefined;
  }
  return address === null && host.state === 'assigned' ? undefined : address;
};

/** The step that one host's own condition asks for; `pool` is undefined once it is no more. */
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
