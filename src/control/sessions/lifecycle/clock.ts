/**
 * Validates the clock settings of a session's opening and fills in all defaults, so that the session shows the settings
 * in effect.
 */
import { AppError } from '#domain/error.ts';
import {
  lastInstantMs,
  machineClock,
  maxClockRate,
  type SessionClock,
} from '#domain/world-clock.ts';
import type { OpenSessionBody } from '#wire/public-api/sessions/session.ts';

type ClockGiven = NonNullable<OpenSessionBody['clock']>;

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

const invalidClock = (member: keyof ClockGiven, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: ['clock', member], message }] });

/** Returns true if the calendar has the day. A plain `Date` would accept 30 February as a day in March. */
const isDay = (year: number, month: number, day: number): boolean => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

/** Parses a date or time to milliseconds since 1970. Throws `invalid` if the text is neither. */
const readInstant = (text: string): number => {
  const [, year, month, day] = dateTime.exec(text) ?? [];
  if (year === undefined) {
    throw invalidClock('at', `"${text}" is no date and time such as 2026-03-01T09:30:00Z, or date`);
  }
  if (!isDay(Number(year), Number(month), Number(day))) {
    throw invalidClock('at', `"${text}" is a day that the calendar does not have`);
  }
  const ms = Date.parse(text);
  if (ms >= 0 && ms <= lastInstantMs) return ms;
  throw invalidClock('at', `"${text}" is not between the years 1970 and 9999`);
};

const readRate = ({ mode, rate }: ClockGiven): number => {
  if (rate === undefined) return 1;
  if (mode === 'frozen') throw invalidClock('rate', 'a frozen clock stands still and has no rate');
  if (rate > 0 && rate <= maxClockRate) return rate;
  throw invalidClock('rate', `the rate must be above 0 and at most ${maxClockRate}, not ${rate}`);
};

/**
 * Returns the requested clock with all defaults. A clock that does not run starts at `at`, or at the current second if
 * `at` is absent. Throws `invalid` and names the wrong member.
 */
export const resolveClock = (given: ClockGiven | undefined, now: Date): SessionClock => {
  if (given === undefined) return machineClock;
  const { mode = machineClock.mode } = given;
  const rate = readRate(given);
  if (given.at !== undefined) {
    return { at: new Date(readInstant(given.at)).toISOString(), mode, rate };
  }
  const second = Math.floor(now.getTime() / 1000) * 1000;
  return { at: mode === 'real' ? null : new Date(second).toISOString(), mode, rate };
};
