/**
 * The clock of a session's world: what its user code, its routes and its tokens take for the present.
 * It need not be the machine's: a session that is opened on a stopped or stepped clock, with a seed,
 * gives the same times and ids for the same calls.
 */

/**
 * `real` runs. `frozen` stands still. `stepped` stands still but for a step forward with each call
 * and request.
 */
export const clockModes = ['real', 'frozen', 'stepped'] as const;
export type ClockMode = (typeof clockModes)[number];

export type SessionClock = {
  /** Where it starts, ISO 8601; null: at the machine's time. */
  at: string | null;
  mode: ClockMode;
  /** `real`: seconds of the world in a second; `stepped`: seconds of a step; `frozen`: 1, unused. */
  rate: number;
};

/** The clock of a session that asks for none. */
export const machineClock: SessionClock = { at: null, mode: 'real', rate: 1 };

/** Seconds: some eleven days of the world in one second, or in one step. */
export const maxClockRate = 1_000_000;

/** No clock goes further; vendors' own formats end with the year 9999, too. */
export const lastInstantMs = Date.UTC(9999, 11, 31, 23, 59, 59);
