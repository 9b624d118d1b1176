/**
 * How many blank hosts a pool with `target: 'auto'` keeps warm. While a host is on its way, the claims
 * of that time must be met by warm ones: claim rate × warm-up time, and twice the square root of that
 * on top, which is how far claims that come at random stray. Up at once; down only after a minute in
 * which far fewer would have done, to the most that would have been needed in it.
 *
 * A pure step from one observation to the next. Nothing is stored: a new orchestrator learns anew.
 */

import type { PoolConfig } from '#pools/pool-config.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';

/** Claims are counted over so long, in milliseconds. */
const windowMs = 10_000;
const lowForMs = 60_000;
/** A need below this share of the target counts as low. */
const lowShare = 0.7;
const warmUpsKept = 32;
/** What a warm-up is taken to last until one was seen. */
const firstWarmUpMs = 2_000;
/**
 * Warm-ups count for at most so many times the quickest one. What makes them longer than that is as a rule that
 * many hosts start at once, and a target that rose with them would have still more of them start.
 */
const mostTimesQuickest = 4;

export type Scaling = {
  target: number;
  /** Claims seen between two observations, and when. */
  claims: readonly { atMs: number; count: number }[];
  /** The last warm-ups seen, in milliseconds, and the quickest of all. */
  warmUps: readonly number[];
  quickestMs: number | undefined;
  /** Since when the need has been low, and the greatest need since. */
  low: { sinceMs: number; most: number } | undefined;
  /** What the last observation showed of each host. */
  seen: ReadonlyMap<string, Pick<PoolHost, 'state' | 'uses'>> | undefined;
};

export type Sight = {
  atMs: number;
  /** The pool's hosts. */
  hosts: readonly PoolHost[];
  /** Sessions that wait for one of them. */
  waiting: number;
};

export type Bounds = { minimum: number; maximum: number };

/** Nothing learned yet. */
export const unscaled = ({ minimum }: Bounds): Scaling => ({
  target: minimum,
  claims: [],
  warmUps: [],
  quickestMs: undefined,
  low: undefined,
  seen: undefined,
});

/** Sessions that hosts were given since the last observation. */
const countClaims = ({ seen }: Scaling, hosts: readonly PoolHost[]): number => {
  if (seen === undefined) return 0;
  let claims = 0;
  for (const { id, uses } of hosts) claims += Math.max(0, uses - (seen.get(id)?.uses ?? 0));
  return claims;
};

/** How long those took to get warm that have got so since the last observation. */
const newWarmUps = ({ seen }: Scaling, hosts: readonly PoolHost[]): number[] =>
  hosts
    .filter(({ id, state, uses }) => {
      const before = seen?.get(id)?.state ?? (seen === undefined ? undefined : 'starting');
      const isFirst = state === 'warm' ? uses === 0 : state === 'assigned' && uses === 1;
      return before === 'starting' && isFirst;
    })
    .map(({ ageMs, stateAgeMs }) => Math.max(0, ageMs - stateAgeMs));

/** A host that was warm at once (its clock says so) tells nothing of how long others take. */
const quickestOf = (before: number | undefined, warmUps: readonly number[]): number | undefined => {
  const times = [...(before === undefined ? [] : [before]), ...warmUps].filter((ms) => ms > 0);
  return times.length === 0 ? undefined : Math.min(...times);
};

/** Nine of ten warm-ups lasted no longer, as far as they count. */
const warmUpMs = (warmUps: readonly number[], quickestMs = firstWarmUpMs): number => {
  const sorted = warmUps.toSorted((a, b) => a - b);
  const usual = sorted[Math.ceil(sorted.length * 0.9) - 1] ?? firstWarmUpMs;
  return Math.min(usual, quickestMs * mostTimesQuickest);
};

/** The blank hosts that meet so many claims a second while a host gets warm. */
export const hostsFor = (claimsPerSecond: number, warmUp: number): number => {
  const meanwhile = (claimsPerSecond * warmUp) / 1_000;
  return Math.ceil(meanwhile + 2 * Math.sqrt(meanwhile));
};

/** The target that follows from a need, and how long the need has been low. */
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
 * How many blank hosts of a target there is room for: what is left of the maximum beside hosts that serve
 * and those that are to hold worlds, but no fewer than the minimum. A pool that keeps no worlds loaded has
 * its target, however little of it can be attained.
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

/** What is known after one more observation. */
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
  // A new orchestrator begins with what it finds warm, and lets go of it as slowly as of its own.
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
