/**
 * Formats times for people: as age, or as date and time. Dates are in UTC, the time zone of worlds, whatever the zone
 * of the browser.
 */

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = /* @__PURE__ */ new Intl.RelativeTimeFormat('en', {
  numeric: 'auto',
  style: 'short',
});
/** Parses a date with its time in ISO 8601; undefined for any other text. */
export const readTime = (text: string): Date | undefined => {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
};

export const showRelative = (time: Date, now = new Date()): string => {
  const seconds = (time.getTime() - now.getTime()) / 1_000;
  const unit = units.find(([, length]) => Math.abs(seconds) >= length);
  if (unit === undefined)
    return Math.abs(seconds) < 10 ? 'now' : relative.format(Math.round(seconds), 'second');
  return relative.format(Math.round(seconds / unit[1]), unit[0]);
};

const recentMs = 30 * 86_400_000;
// Without the mark a bundler would keep it in pages that never use it.
const day = /* @__PURE__ */ new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

/** Returns the age of a recent time, and the day of an older one. */
export const showRecent = (time: Date, now = new Date()): string =>
  Math.abs(now.getTime() - time.getTime()) < recentMs ? showRelative(time, now) : day.format(time);

/** Returns the time to the second: `Mon, 02 Mar 2026 09:30:00 GMT`. */
export const showExact = (time: Date): string => time.toUTCString();

/**
 * Returns the day and the minute: `02 Mar 2026 09:30`. It is cut out of the exact text, because a formatter would add
 * more code.
 */
export const showAbsolute = (time: Date): string => showExact(time).slice(5, 22);
