/** Parses times as clients write them: ISO 8601 with an offset, in any precision. */

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.(\d{1,9}))?)?(?:Z|[+-]\d\d:?\d\d)$/i;
const earliestMs = Date.UTC(1970, 0, 1);
const latestMs = Date.UTC(2200, 0, 1);

/** Length in characters of `2026-03-01T12:34:56.789Z`, the form in which most clients write times. */
const usualChars = 24;
const zero = '0'.charCodeAt(0);

/** Returns the number that the two digits at position `at` form. */
const twoAt = (text: string, at: number): number =>
  (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero;

/**
 * Cache of the day that was parsed last, and the day's start in milliseconds; most times of a batch are on the same
 * day.
 */
const last = { day: '', ms: Number.NaN };

const dayMs = (day: string): number => {
  if (day !== last.day) Object.assign(last, { day, ms: Date.parse(`${day}T00:00:00.000Z`) });
  return last.ms;
};

/**
 * Returns the result of `Date.parse` for an ISO time. For times in the most common form this takes a third of the time
 * of `Date.parse`.
 */
const dateMs = (text: string): number => {
  const [hours, minutes, seconds] = [twoAt(text, 11), twoAt(text, 14), twoAt(text, 17)];
  const isUsual = text.length === usualChars && text.endsWith('Z') && text[19] === '.';
  if (!isUsual || hours > 23 || minutes > 59 || seconds > 59) return Date.parse(text);
  const ms = twoAt(text, 20) * 10 + text.charCodeAt(22) - zero;
  return dayMs(text.slice(0, 10)) + ((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms;
};

/**
 * Returns milliseconds since 1970 for an ISO time with an offset, in any year; undefined if the text is not such a
 * time.
 */
const parseMs = (text: string): number | undefined => {
  const ms = timeForm.test(text) ? dateMs(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};

/**
 * Parses the start or end of a time range, like `parseMs`. A time outside the valid times is replaced by one just
 * outside them.
 */
export const parseBoundMs = (text: unknown): number | undefined => {
  const ms = typeof text === 'string' ? parseMs(text) : undefined;
  return ms === undefined ? undefined : Math.min(Math.max(ms, earliestMs - 1), latestMs);
};

/**
 * Returns microseconds since 1970 for an ISO time with an offset; undefined if the text is not such a time or is out of
 * range.
 */
export const parseTimeUs = (text: unknown): number | undefined => {
  if (typeof text !== 'string') return undefined;
  const ms = parseMs(text);
  if (ms === undefined || ms < earliestMs || ms >= latestMs) return undefined;
  // A text of this length has no digits beyond milliseconds.
  if (text.length <= usualChars) return Math.floor(ms) * 1_000;
  const beyondMs = timeForm.exec(text)?.[1]?.slice(3, 6) ?? '';
  return Math.floor(ms) * 1_000 + (beyondMs === '' ? 0 : Number(beyondMs.padEnd(3, '0')));
};
