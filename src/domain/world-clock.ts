/**
 * Clock of a session's world: the present time for the world's user code, routes and tokens. It may differ from the
 * machine's clock. A session on a frozen or stepped clock, with a seed, gives the same times and ids for the same
 * calls.
 */

/**
 * Modes of the clock. `real` runs. `frozen` stands still. `stepped` advances by one step with each call and request.
 */
export const clockModes = ['real', 'frozen', 'stepped'] as const;
export type ClockMode = (typeof clockModes)[number];

export type SessionClock = {
  /** Time at which the clock starts, ISO 8601; null starts it at the machine's time. */
  at: string | null;
  mode: ClockMode;
  /**
   * Rate of the clock. `real`: seconds of the world in one real second. `stepped`: seconds in one step. `frozen`: 1,
   * unused.
   */
  rate: number;
};

/** Default clock of a session. */
export const machineClock: SessionClock = { at: null, mode: 'real', rate: 1 };

/** Maximum rate: about eleven days of the world in one second, or in one step. */
export const maxClockRate = 1_000_000;

/** Last instant of any clock; vendors' own formats also end with the year 9999. */
export const lastInstantMs = Date.UTC(9999, 11, 31, 23, 59, 59);
