/** Times as people say them: how long ago, or when; with the exact one for whoever asks. */

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });

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
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** How long ago, as long as that tells one time from another, and else the day. */
export const showRecent = (time: Date, now = new Date()): string =>
  Math.abs(now.getTime() - time.getTime()) < recentMs ? showRelative(time, now) : day.format(time);

export const showExact = (time: Date): string => exact.format(time);
