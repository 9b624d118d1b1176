/**
 * Times as people read them: how long ago, or when. Dates are those of UTC, in which worlds keep their time, whatever the
 * zone of the browser.
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
/** A date with its time, as ISO 8601 has it; undefined for any other text. */
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

/** How long ago, as long as that tells one time from another, and else the day. */
export const showRecent = (time: Date, now = new Date()): string =>
  Math.abs(now.getTime() - time.getTime()) < recentMs ? showRelative(time, now) : day.format(time);

/** Returns the time to the second: `Mon, 02 Mar 2026 09:30:00 GMT`. */
export const showExact = (time: Date): string => time.toUTCString();

/** Returns the day and the minute: `02 Mar 2026 09:30`. Cut out of the exact text, as a formatter would weigh more. */
export const showAbsolute = (time: Date): string => showExact(time).slice(5, 22);
