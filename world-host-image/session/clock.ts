/**
 * The world's clock as its session runs it. Everything that the simulated vendor dates goes by it:
 * user code, generated fields, the expiry of tokens. What concerns the machine does not: timeouts,
 * the request ledger, signatures of webhooks.
 */
import { lastInstantMs, type SessionClock } from '#domain/world-clock.ts';

/** A time, and until when of the machine's it is the time: milliseconds since 1970; null for as long as a turn lasts. */
export type WorldTime = { iso: string; untilMs: number | null };

export type WorldClock = {
  now(): Date;
  /** ISO 8601 in UTC to the second, as vendors write it: `2026-03-01T09:30:00Z`. */
  iso(): string;
  /** The same with how long it holds, for who asks more often than it changes. */
  time(): WorldTime;
  /** Moves a stepped clock on; once for each call and request. */
  step(): void;
  /** Back to where it started. */
  reset(): void;
};

/**
 * Starts a clock. Without `at` it starts at the machine's time, which `machineMs` tells in
 * milliseconds since 1970; going back leads to that same instant unless the clock is a running one.
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
  /** A clock of the machine itself, which nothing sets back. */
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
