import { describe, expect, it } from 'vitest';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import { attainable, hostsFor, rescale, type Scaling, unscaled } from './autoscale.ts';

const bounds = { minimum: 1, maximum: 50 };

const host = (id: string, changes: Partial<PoolHost> = {}): PoolHost => ({
  id,
  pool: 'default',
  state: 'warm',
  sessionId: null,
  stateAgeMs: 0,
  silentMs: 0,
  ageMs: 1_000,
  launched: true,
  versionId: null,
  uses: 0,
  ...changes,
});

/** Feeds one observation a second; each number is the claims since the previous one. */
const observe = (scaling: Scaling, claims: readonly number[], fromMs = 0): Scaling => {
  let now = scaling;
  let uses = now.seen?.get('busy')?.uses ?? 0;
  for (const [second, count] of claims.entries()) {
    uses += count;
    const hosts = [host('busy', { state: 'assigned', uses })];
    now = rescale(now, { atMs: fromMs + second * 1_000, hosts, waiting: 0 }, bounds);
  }
  return now;
};

const times = (count: number, value: number): number[] => new Array(count).fill(value);

describe('hostsFor', () => {
  it('returns hosts for the claims during a warm-up, and for twice their spread', () => {
    expect(hostsFor(0, 1_000)).toBe(0);
    expect(hostsFor(1, 1_000)).toBe(3);
    expect(hostsFor(45, 1_000)).toBe(59);
    expect(hostsFor(100, 250)).toBe(35);
  });
});

describe('attainable', () => {
  const worlds = [
    { world: 'acme/tests/first', hosts: 3 },
    { world: 'acme/tests/second', hosts: 2 },
  ];
  const serving = (count: number) =>
    Array.from({ length: count }, (_, index) => host(`s${index}`, { state: 'assigned' }));

  it('leaves room for the hosts that preload worlds, and for those that serve', () => {
    expect(attainable(50, [], { ...bounds, worlds })).toBe(45);
    expect(attainable(50, serving(20), { ...bounds, worlds })).toBe(25);
    expect(attainable(10, serving(20), { ...bounds, worlds })).toBe(10);
  });

  it('returns at least the minimum, and the target itself if no world is preloaded', () => {
    expect(attainable(50, serving(48), { ...bounds, worlds })).toBe(1);
    expect(attainable(50, serving(48), { ...bounds, worlds: [] })).toBe(50);
  });
});

describe('rescale', () => {
  it('begins at the minimum, or at the number of hosts that are already warm', () => {
    const sight = { atMs: 0, waiting: 0 };
    expect(rescale(unscaled(bounds), { ...sight, hosts: [] }, bounds).target).toBe(1);
    const hosts = Array.from({ length: 7 }, (_, index) => host(`h${index}`));
    expect(rescale(unscaled(bounds), { ...sight, hosts }, bounds).target).toBe(7);
  });

  it('raises the target at once when claims come, and not above the maximum', () => {
    const calm = observe(unscaled(bounds), [0, 0]);
    const busy = observe(calm, [20], 2_000);
    expect(busy.target).toBe(hostsFor(2, 2_000));
    expect(observe(busy, [5_000], 3_000).target).toBe(50);
  });

  it('counts sessions that wait as claims', () => {
    const sight = { atMs: 0, hosts: [], waiting: 20 };
    expect(rescale(unscaled(bounds), sight, bounds).target).toBe(hostsFor(2, 2_000));
  });

  it('measures how long hosts take to get warm, not how long they were warm', () => {
    const starting = { atMs: 0, waiting: 0, hosts: [host('a', { state: 'starting' })] };
    const before = rescale(unscaled(bounds), starting, bounds);
    const warm = [host('a', { ageMs: 9_000, stateAgeMs: 1_000 }), host('b', { ageMs: 500 })];
    const after = rescale(before, { atMs: 1_000, waiting: 0, hosts: warm }, bounds);
    expect(after.warmUps).toEqual([8_000, 500]);
    const again = rescale(after, { atMs: 2_000, waiting: 0, hosts: warm }, bounds);
    expect(again.warmUps).toEqual([8_000, 500]);
  });

  it('does not raise the target without bound when starts are slow because many hosts start at once', () => {
    const warmed = (id: string, ms: number) => host(id, { ageMs: ms, stateAgeMs: 0 });
    const starting = ['a', 'b', 'c'].map((id) => host(id, { state: 'starting' }));
    const sight = (atMs: number, hosts: PoolHost[]) => ({ atMs, hosts, waiting: 20 });
    const first = rescale(unscaled(bounds), sight(0, starting), bounds);
    const quick = rescale(first, sight(1_000, [warmed('a', 1_500), ...starting.slice(1)]), bounds);
    expect(quick.target).toBe(hostsFor(2, 2_000));
    const slow = rescale(
      quick,
      sight(2_000, [warmed('a', 1_500), warmed('b', 30_000), warmed('c', 30_000)]),
      bounds,
    );
    expect(slow.target).toBe(hostsFor(2, 6_000));
  });

  it('lowers the target only after a minute, to the highest need of that minute', () => {
    const busy = observe(unscaled(bounds), [0, ...times(20, 10)]);
    expect(busy.target).toBe(hostsFor(10, 2_000));
    const lull = observe(busy, times(55, 0), 21_000);
    expect(lull.target).toBe(busy.target);
    const lower = observe(lull, [...times(30, 0), 20], 76_000);
    expect(lower.target).toBeLessThan(busy.target * 0.7);
    expect(lower.target).toBeGreaterThan(hostsFor(2, 2_000));
    const lowest = observe(lower, times(50, 0), 107_000);
    expect(lowest.target).toBe(hostsFor(2, 2_000));
    expect(observe(lowest, times(70, 0), 157_000).target).toBe(1);
  });

  it('does not lower the target for a need that is only slightly lower', () => {
    const busy = observe(unscaled(bounds), [0, ...times(20, 10)]);
    expect(observe(busy, times(300, 8), 21_000).target).toBe(busy.target);
  });

  it('starts the minute anew when claims come back', () => {
    const busy = observe(unscaled(bounds), [0, ...times(20, 10)]);
    const back = observe(observe(busy, times(50, 0), 21_000), times(10, 10), 71_000);
    expect(back.target).toBe(busy.target);
    expect(observe(back, times(50, 0), 81_000).target).toBe(busy.target);
  });

  it('keeps the target within bounds that have changed', () => {
    const busy = observe(unscaled(bounds), [0, ...times(20, 10)]);
    const sight = { atMs: 22_000, hosts: [], waiting: 0 };
    expect(rescale(busy, sight, { minimum: 40, maximum: 60 }).target).toBe(40);
    expect(rescale(busy, sight, { minimum: 0, maximum: 5 }).target).toBe(5);
  });
});
