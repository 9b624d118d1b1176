import { describe, expect, it } from 'vitest';
import { createClock } from './clock.ts';

const at = '2026-03-01T09:30:00.000Z';
const start = Date.UTC(2026, 6, 1);

/** Returns a simulated clock of the machine, which the test sets. */
const machine = (ms = start) => {
  const state = { ms };
  return { state, now: () => state.ms };
};

describe('a clock', () => {
  it('returns the machine’s time by default, and never goes back', () => {
    const { state, now } = machine(start + 999);
    const clock = createClock({ at: null, mode: 'real', rate: 1 }, now);
    expect(clock.iso()).toBe('2026-07-01T00:00:00Z');
    state.ms += 61_000;
    clock.step();
    clock.reset();
    expect(clock.iso()).toBe('2026-07-01T00:01:01Z');
    expect(clock.now().getTime()).toBe(state.ms);
  });

  it('runs from its start time at its rate, and starts there again on a reset', () => {
    const { state, now } = machine();
    const clock = createClock({ at, mode: 'real', rate: 3600 }, now);
    clock.step();
    expect(clock.iso()).toBe('2026-03-01T09:30:00Z');
    state.ms += 2_500;
    expect(clock.iso()).toBe('2026-03-01T12:00:00Z');
    clock.reset();
    expect(clock.iso()).toBe('2026-03-01T09:30:00Z');
    state.ms += 1_000;
    expect(clock.iso()).toBe('2026-03-01T10:30:00Z');
  });

  it('stands still if it is frozen', () => {
    const { state, now } = machine();
    const clock = createClock({ at: null, mode: 'frozen', rate: 1 }, now);
    state.ms += 5_000;
    clock.step();
    expect(clock.iso()).toBe('2026-07-01T00:00:00Z');
  });

  it('moves only by steps if it is stepped', () => {
    const { state, now } = machine();
    const clock = createClock({ at, mode: 'stepped', rate: 0.5 }, now);
    state.ms += 5_000;
    const times = [1, 2, 3].map(() => {
      clock.step();
      return clock.now().toISOString().slice(17);
    });
    expect(times).toEqual(['00.500Z', '01.000Z', '01.500Z']);
    clock.reset();
    expect(clock.iso()).toBe('2026-03-01T09:30:00Z');
  });

  it('stops at the end of the year 9999', () => {
    const clock = createClock({ at: '9999-12-31T00:00:00Z', mode: 'stepped', rate: 1e6 });
    for (let step = 0; step < 3; step += 1) clock.step();
    expect(clock.iso()).toBe('9999-12-31T23:59:59Z');
  });
});

describe('the validity of a time', () => {
  /** Returns the first machine time, from now on, at which the world's clock shows another time. */
  const changesAt = (clock: ReturnType<typeof createClock>, machine: { ms: number }): number => {
    const { iso } = clock.time();
    while (clock.iso() === iso) machine.ms += 1;
    return machine.ms;
  };

  it.each([
    ['of the machine', { at: null, mode: 'real', rate: 1 }],
    ['that runs from a time', { at: '2026-03-01T09:30:00.250Z', mode: 'real', rate: 1 }],
    ['that is slow', { at: '2026-03-01T09:30:00Z', mode: 'real', rate: 0.3 }],
    ['that is fast', { at: '2026-03-01T09:30:00Z', mode: 'real', rate: 7 }],
    ['that is faster than the machine counts', { at: null, mode: 'real', rate: 1e6 }],
  ] as const)('is exact for a clock %s', (_, settings) => {
    const machine = { ms: 1_700_000_000_123 };
    const clock = createClock(settings, () => machine.ms);
    for (const laterMs of [0, 1, 333, 876, 877, 5_000]) {
      machine.ms += laterMs;
      const { untilMs } = clock.time();
      expect(changesAt(clock, machine)).toBe(untilMs);
    }
  });

  it('has no end if the clock stands still during a turn', () => {
    const stepped = createClock({ at: '2026-03-01T09:30:00Z', mode: 'stepped', rate: 60 });
    stepped.step();
    expect(stepped.time()).toEqual({ iso: '2026-03-01T09:31:00Z', untilMs: null });
  });
});
