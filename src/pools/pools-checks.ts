/**
 * Checks the keys of the configuration file against one another: within a pool, between pools, and for the runtime.
 * Settings that may be intended but are probably mistakes are warnings.
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
    const message = `the runtime "${runtime}" cannot give "${isolation}"`;
    place.at('isolation').refuse('bad_value', message, `it gives ${possible.join(', ')}`);
  }
  if (image !== undefined && runtime === 'process') {
    const message = 'hosts of the runtime "process" have no image';
    place.at('image').refuse('unexpected_key', message, 'leave it out');
  }
  if (kubernetes !== undefined && runtime !== 'kubernetes') {
    const message = `the runtime is "${runtime}" and makes no pods`;
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
    const sum = `${loaded} hosts that hold worlds and ${blank} warm ones beside them`;
    refuse('worlds', `${sum} are more than the maximum of ${maximum}`);
  }
  if (maxAgeMs !== null && maxAgeMs <= startMs) {
    const start = formatDuration(startMs);
    refuse('max_age', `hosts would be too old before their start may take its ${start}`);
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

/** Checks the pools against one another: a size must have the same resources in every pool. */
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
    const message = `the size "${name}" is ${other}, and something else here`;
    const at = place.at(pool.pool, 'size');
    at.refuse(
      'name_collision',
      message,
      'sessions ask for a size by its name: give this one another',
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
    const message = `the pool "${before.pool}" serves all that this one does, and is asked first`;
    place
      .at(pool.pool)
      .refuse(
        'duplicate',
        message,
        'this one launches for sessions only while that one is full or held',
      );
  }
  for (const tier of browserTiers) {
    const wish = { tier, isolation: null, size: usualSize };
    if (pools.some((pool) => suits(offerOf(pool), wish))) continue;
    const message = `no pool serves ${tier} sessions of the usual size "${usualSize}"`;
    place.refuse(
      'missing_key',
      message,
      'such sessions are refused unless they ask for another size',
    );
  }
};
