/**
 * Checks the keys of the configuration file against one another: within a pool, between pools, and for the runtime.
 * Settings that are valid but probably mistakes yield warnings.
 */
import { type HostOffer, isolationsOf, type RuntimeName, suits, usualSize } from '#domain/pool.ts';
import { browserTiers } from '#domain/session.ts';
import type { Place } from '#language/read/place.ts';
import { formatDuration } from './duration.ts';
import { kindOf, offerOf, type PoolConfig } from './pool-config.ts';

const checkRuntime = (place: Place, pool: PoolConfig, runtime: RuntimeName): void => {
  const { isolation, image, kubernetes } = pool;
  const possible = isolationsOf(runtime);
  if (!possible.includes(isolation)) {
    const message = `the runtime "${runtime}" does not support the isolation "${isolation}"`;
    place.at('isolation').refuse('bad_value', message, `it supports ${possible.join(', ')}`);
  }
  if (image !== undefined && runtime === 'process') {
    const message = 'hosts of the runtime "process" have no image';
    place.at('image').refuse('unexpected_key', message, 'leave it out');
  }
  if (kubernetes !== undefined && runtime !== 'kubernetes') {
    const message = `the runtime is "${runtime}", which starts no pods`;
    place.at('kubernetes').refuse('unexpected_key', message, 'leave it out');
  }
};

const checkNumbers = (place: Place, pool: PoolConfig): void => {
  const { minimum, maximum, target, worlds, maxAgeMs, startMs } = pool;
  const refuse = (key: string, message: string): void => place.at(key).refuse('bad_value', message);
  if (minimum > maximum) refuse('minimum', `${minimum} is over the maximum of ${maximum}`);
  if (target !== 'auto' && target > maximum) {
    refuse('target', `${target} is over the maximum of ${maximum}`);
  }
  if (target !== 'auto' && target < minimum) {
    refuse('target', `${target} is under the minimum of ${minimum}`);
  }
  const loaded = worlds.reduce((sum, { hosts }) => sum + hosts, 0);
  const blank = target === 'auto' ? minimum : target;
  if (loaded > 0 && blank <= maximum && loaded + blank > maximum) {
    const sum = `${loaded} hosts that hold worlds and ${blank} other warm ones`;
    refuse('worlds', `${sum} are more than the maximum of ${maximum}`);
  }
  if (maxAgeMs !== null && maxAgeMs <= startMs) {
    const start = formatDuration(startMs);
    refuse(
      'max_age',
      `hosts would exceed this age before the end of their start, which may take ${start}`,
    );
  }
};

/** Checks a single pool. */
export const checkPool = (
  place: Place,
  pool: PoolConfig,
  runtime: RuntimeName | undefined,
): void => {
  checkNumbers(place, pool);
  if (runtime !== undefined) checkRuntime(place, pool, runtime);
};

/** Checks the pools against one another: a size must mean the same resources in every pool. */
export const checkPools = (place: Place, pools: readonly PoolConfig[]): void => {
  const firstOf = new Map<string, PoolConfig>();
  for (const pool of pools) {
    if (kindOf(pool) === 'browser') continue;
    const { name, memoryMb, cpus, pids } = pool.size;
    const first = firstOf.get(name) ?? pool;
    firstOf.set(name, first);
    const { size } = first;
    if (size.memoryMb === memoryMb && size.cpus === cpus && size.pids === pids) continue;
    const other = `${size.memoryMb} MB, ${size.cpus} cpus and ${size.pids} pids in pool "${first.pool}"`;
    const message = `the size "${name}" is ${other}, and has other resources here`;
    const at = place.at(pool.pool, 'size');
    at.refuse(
      'name_collision',
      message,
      'sessions select a size by its name, so give this size another name',
    );
  }
};

/** Returns true if `other` serves every session that `one` serves. */
const covers = (other: HostOffer, one: HostOffer): boolean =>
  other.size === one.size &&
  other.isolation === one.isolation &&
  (other.tier === null || other.tier === one.tier);

/** Adds a warning for each setting that is valid but probably a mistake. */
export const warnOfPools = (place: Place, pools: readonly PoolConfig[]): void => {
  for (const [index, pool] of pools.entries()) {
    const before = pools.slice(0, index).find((other) => covers(offerOf(other), offerOf(pool)));
    if (before === undefined) continue;
    const message = `the pool "${before.pool}" serves all sessions that this one serves, and is tried first`;
    place
      .at(pool.pool)
      .refuse(
        'duplicate',
        message,
        'this pool launches hosts for sessions only while the launches of the other one are held, or it is full',
      );
  }
  for (const tier of browserTiers) {
    const wish = { tier, isolation: null, size: usualSize };
    if (pools.some((pool) => suits(offerOf(pool), wish))) continue;
    const message = `no pool serves ${tier} sessions of the usual size "${usualSize}"`;
    place.refuse(
      'missing_key',
      message,
      'such sessions are refused unless they request another size',
    );
  }
};
