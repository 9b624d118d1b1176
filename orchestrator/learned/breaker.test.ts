import { describe, expect, it } from 'vitest';
import type { HostState } from '#domain/host.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import { createBreaker, waitAfter } from './breaker.ts';

const row = (id: string, state: HostState): PoolHost => ({
  id,
  pool: 'default',
  state,
  sessionId: null,
  stateAgeMs: 0,
  silentMs: null,
  launched: true,
  ageMs: 0,
  versionId: null,
  uses: 0,
});

/** Creates a breaker on a test clock, with launches that fail one after another, a millisecond each. */
const createTried = () => {
  let now = 0;
  const breaker = createBreaker(() => now);
  return {
    breaker,
    passTo(ms: number): void {
      now = ms;
    },
    failTimes(times: number): void {
      for (let nth = 0; nth < times; nth += 1) {
        now += 1;
        breaker.began(`h${nth}`);
        breaker.failed(`h${nth}`, 'no image');
      }
    },
  };
};

describe('breaker', () => {
  it('waits longer with each failure, at most half a minute', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50].map(waitAfter);
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('allows one trial after a hold, and the next only when that one is settled', () => {
    const { breaker, failTimes, passTo } = createTried();
    failTimes(5);
    expect(breaker.allowance()).toBe(0);
    expect(breaker.status()).toEqual({ failuresInARow: 5, heldForMs: 1_000, reason: 'no image' });
    passTo(1_005);
    expect(breaker.allowance()).toBe(1);
    breaker.began('trial');
    expect(breaker.allowance()).toBe(0);
    breaker.settle([row('trial', 'starting')]);
    expect(breaker.allowance()).toBe(0);
    breaker.settle([row('trial', 'warm')]);
    expect(breaker.allowance()).toBe(Number.POSITIVE_INFINITY);
    expect(breaker.status().reason).toBeUndefined();
  });

  it('counts launches that were under way together as one failure', () => {
    let now = 0;
    const breaker = createBreaker(() => now);
    for (const id of ['a', 'b', 'c']) breaker.began(id);
    now = 50;
    breaker.failed('a', 'no image');
    now = 60;
    breaker.failed('b', 'no image at all');
    expect(breaker.status()).toMatchObject({ failuresInARow: 1, reason: 'no image at all' });
    now = 150;
    breaker.began('d');
    breaker.failed('c', 'no image');
    breaker.failed('d', 'no image');
    expect(breaker.status()).toMatchObject({ failuresInARow: 2, heldForMs: 200 });
    expect(breaker.isHeld()).toBe(false);
  });

  it('does not count the end of hosts that another orchestrator launched as a failure', () => {
    const breaker = createBreaker(() => 60_000);
    for (let nth = 0; nth < 20; nth += 1) breaker.failed(`left-${nth}`, 'start_timeout');
    expect(breaker.status()).toEqual({ failuresInARow: 0, heldForMs: 0, reason: undefined });
  });

  it('ends a hold as soon as a host gets warm', () => {
    const { breaker, failTimes } = createTried();
    breaker.began('good');
    failTimes(9);
    expect(breaker.allowance()).toBe(0);
    breaker.settle([row('good', 'assigned')]);
    expect(breaker.allowance()).toBe(Number.POSITIVE_INFINITY);
  });

  it('ignores the late failure of a launch that began before another host got warm', () => {
    let now = 0;
    const breaker = createBreaker(() => now);
    breaker.began('late');
    breaker.began('early');
    now = 10;
    breaker.failed('early', 'no image');
    now = 200;
    breaker.began('good');
    breaker.settle([row('late', 'starting'), row('good', 'warm')]);
    now = 300;
    breaker.failed('late', 'no image');
    expect(breaker.status()).toEqual({ failuresInARow: 0, heldForMs: 0, reason: undefined });
  });

  it('does not count a host that was drained or vanished as a success', () => {
    const { breaker, failTimes, passTo } = createTried();
    failTimes(5);
    passTo(1_005);
    breaker.began('trial');
    breaker.settle([row('trial', 'draining')]);
    expect(breaker.allowance()).toBe(1);
    breaker.began('other');
    breaker.settle([]);
    expect(breaker.status().failuresInARow).toBe(5);
  });
});
