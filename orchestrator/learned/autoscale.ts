/**
 * Computes how many blank hosts a pool with `target: 'auto'` keeps warm. While a host starts, warm hosts must serve the
 * sessions that claim a host in that time. Their number is claim rate × warm-up time, plus twice the square root of
 * this product for the variance of random arrivals. The target rises at once. It falls only after a minute of low need,
 * to the greatest need of that minute.
 *
 * The computation is a pure function from one observation to the next. Nothing is stored: a new orchestrator starts
 * without history.
 */

import type { PoolConfig } from '#pools/pool-config.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';

/** Window over which claims are counted, in milliseconds. */
const windowMs = 10_000;
const lowForMs = 60_000;
/** A need below this share of the target counts as low. */
const lowShare = 0.7;
const warmUpsKept = 32;
/** Assumed length of a warm-up until one was observed, in milliseconds. */
const firstWarmUpMs = 2_000;
/**
 * Upper bound of a warm-up that counts, as a multiple of the quickest. Longer ones mostly come from many hosts
 * starting at once, and a target that rose with them would start still more.
 */
const mostTimesQuickest = 4;

export type Scaling = {
  target: number;
  /** Number and time of the claims in the window. */
  claims: readonly { atMs: number; count: number }[];
  /** The latest warm-ups and the quickest of all, in milliseconds. */
  warmUps: readonly number[];
  quickestMs: number | undefined;
  /** Time since which the need has been low, and the greatest need since. */
  low: { sinceMs: number; most: number } | undefined;
  /** State and uses of each host as of the last observation. */
  seen: ReadonlyMap<string, Pick<PoolHost, 'state' | 'uses'>> | undefined;
};

export type Sight = {
  atMs: number;
  /** Hosts of the pool. */
  hosts: readonly PoolHost[];
  /** Number of sessions that wait for a host of the pool. */
  waiting: number;
};

export type Bounds = { minimum: number; maximum: number };

/** Returns the state before any observation. */
export const unscaled = ({ minimum }: Bounds): Scaling => ({
  target: minimum,
  claims: [],
  warmUps: [],
  quickestMs: undefined,
  low: undefined,
  seen: undefined,
});

/** Returns the number of sessions assigned to hosts since the last observation. */
const countClaims = ({ seen }: Scaling, hosts: readonly PoolHost[]): number => {
  if (seen === undefined) return 0;
  let claims = 0;
  for (const { id, uses } of hosts) claims += Math.max(0, uses - (seen.get(id)?.uses ?? 0));
  return claims;
};

/** Returns the warm-up times of hosts that became warm since the last observation, in milliseconds. */
const newWarmUps = ({ seen }: Scaling, hosts: readonly PoolHost[]): number[] =>
  hosts
    .filter(({ id, state, uses }) => {
      const before = seen?.get(id)?.state ?? (seen === undefined ? undefined : 'starting');
      const isFirst = state === 'warm' ? uses === 0 : state === 'assigned' && uses === 1;
      return before === 'starting' && isFirst;
    })
    .map(({ ageMs, stateAgeMs }) => Math.max(0, ageMs - stateAgeMs));

/** Returns the quickest warm-up so far. A time of 0 by the clock does not count: it shows nothing about other hosts. */
const quickestOf = (before: number | undefined, warmUps: readonly number[]): number | undefined => {
  const times = [...(before === undefined ? [] : [before]), ...warmUps].filter((ms) => ms > 0);
  return times.length === 0 ? undefined : Math.min(...times);
};

/** Returns the 90th percentile of the warm-ups, bounded by a multiple of the quickest. */
const warmUpMs = (warmUps: readonly number[], quickestMs = firstWarmUpMs): number => {
  const sorted = warmUps.toSorted((a, b) => a - b);
  const usual = sorted[Math.ceil(sorted.length * 0.9) - 1] ?? firstWarmUpMs;
  return Math.min(usual, quickestMs * mostTimesQuickest);
};

/** Returns how many blank hosts meet this rate of claims while a new host warms up. */
export const hostsFor = (claimsPerSecond: number, warmUp: number): number => {
  const meanwhile = (claimsPerSecond * warmUp) / 1_000;
  return Math.ceil(meanwhile + 2 * Math.sqrt(meanwhile));
};

/** Updates the target from the current need and the time for which it has been low. */
const settle = (
  { target, low }: Pick<Scaling, 'target' | 'low'>,
  need: number,
  atMs: number,
): Pick<Scaling, 'target' | 'low'> => {
  if (need >= target * lowShare) return { target: Math.max(need, target), low: undefined };
  const most = Math.max(need, low?.most ?? 0);
  const sinceMs = low?.sinceMs ?? atMs;
  return atMs - sinceMs >= lowForMs
    ? { target: most, low: undefined }
    : { target, low: { sinceMs, most } };
};

const countFresh = (hosts: readonly PoolHost[]): number =>
  hosts.filter(({ state, versionId }) => state === 'warm' && versionId === null).length;

/**
 * Limits a target to the number of blank hosts that the maximum allows, in addition to hosts that serve and hosts
 * reserved for worlds, but at least to the minimum. For a pool that keeps no worlds loaded, returns the target
 * unchanged.
 */
export const attainable = (
  target: number,
  hosts: readonly PoolHost[],
  { minimum, maximum, worlds }: Pick<PoolConfig, 'minimum' | 'maximum' | 'worlds'>,
): number => {
  if (worlds.length === 0) return target;
  const reserved = worlds.reduce((sum, world) => sum + world.hosts, 0);
  const serving = hosts.filter(({ state }) => state === 'assigned').length;
  return Math.min(target, Math.max(minimum, maximum - serving - reserved));
};

/** Returns the state after one more observation. */
export const rescale = (
  before: Scaling,
  { atMs, hosts, waiting }: Sight,
  { minimum, maximum }: Bounds,
): Scaling => {
  const count = countClaims(before, hosts);
  const claims = [...before.claims, ...(count > 0 ? [{ atMs, count }] : [])].filter(
    (claim) => atMs - claim.atMs < windowMs,
  );
  const warmUps = [...before.warmUps, ...newWarmUps(before, hosts)].slice(-warmUpsKept);
  const quickestMs = quickestOf(before.quickestMs, warmUps);
  const claimed = claims.reduce((sum, claim) => sum + claim.count, waiting);
  const rate = claimed / (windowMs / 1_000);
  const need = Math.min(maximum, Math.max(minimum, hostsFor(rate, warmUpMs(warmUps, quickestMs))));
  const seen = new Map(hosts.map(({ id, state, uses }) => [id, { state, uses }]));
  // A new orchestrator starts from the number of warm hosts that it finds, and releases them as slowly as its own.
  const held = before.seen === undefined ? countFresh(hosts) : before.target;
  const bounded = Math.min(maximum, Math.max(minimum, held));
  return {
    ...settle({ ...before, target: bounded }, need, atMs),
    claims,
    warmUps,
    quickestMs,
    seen,
  };
};
