/**
 * Clock of the world in one session. All dates of the simulated vendor come from it: those of user code, generated
 * fields, and the expiry of tokens. Timeouts, the request ledger and signatures of webhooks use the machine's clock
 * instead.
 */
import { lastInstantMs, type SessionClock } from '#domain/world-clock.ts';

/**
 * Time of the world, and the machine's time until which it is valid, in milliseconds since 1970. The latter is null if
 * the time of the world is valid for the whole turn.
 */
export type WorldTime = { iso: string; untilMs: number | null };

export type WorldClock = {
  now(): Date;
  /** Returns the time as ISO 8601 in UTC, to the second, as vendors write it: `2026-03-01T09:30:00Z`. */
  iso(): string;
  /** Returns the time and how long it stays valid, for callers that need it more often than it changes. */
  time(): WorldTime;
  /** Advances a stepped clock; called once for each call and request. */
  step(): void;
  /** Sets the clock back to its start. */
  reset(): void;
};

/**
 * Starts a clock. Without `at`, it starts at the machine's time, which `machineMs` returns in milliseconds since 1970.
 * A reset sets the clock back to the time at which it started, unless it is the machine's own clock (`isMachine`).
 */
export const createClock = (
  { at, mode, rate }: SessionClock,
  machineMs: () => number = Date.now,
): WorldClock => {
  let startedMs = machineMs();
  const startMs = at === null ? Math.floor(startedMs / 1000) * 1000 : Date.parse(at);
  let steps = 0;

  const elapsedMs: Record<SessionClock['mode'], () => number> = {
    real: () => (machineMs() - startedMs) * rate,
    frozen: () => 0,
    stepped: () => steps * rate * 1000,
  };
  /** True for the machine's own clock, which a reset does not set back. */
  const isMachine = at === null && mode === 'real' && rate === 1;
  const nowMs = (): number =>
    isMachine ? machineMs() : Math.min(startMs + elapsedMs[mode](), lastInstantMs);

  const iso = (): string => `${new Date(nowMs()).toISOString().slice(0, 19)}Z`;
  const untilMs = (): number => {
    const nextMs = (Math.floor(nowMs() / 1000) + 1) * 1000;
    return isMachine ? nextMs : startedMs + Math.ceil((nextMs - startMs) / rate);
  };

  return {
    now: () => new Date(nowMs()),
    iso,
    time: () => ({ untilMs: mode === 'real' ? untilMs() : null, iso: iso() }),
    step() {
      steps += 1;
    },
    reset() {
      steps = 0;
      startedMs = machineMs();
    },
  };
};
