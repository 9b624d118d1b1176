/** Durations as operators write them: one or more numbers with units, such as `90s` or `1h30m`. */
import { type Kind, kind, refuseType, refuseValue } from '#language/read/kinds.ts';

const unitMs: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
};
const part = /(\d+(?:\.\d+)?)(ms|[dhms])/g;
const whole = /^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/;

/** Parses a duration into milliseconds; undefined if the text is not one. */
export const parseDuration = (written: string): number | undefined => {
  if (!whole.test(written)) return undefined;
  const parts = [...written.matchAll(part)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
};

/** Formats milliseconds in the largest unit that divides them. */
export const formatDuration = (ms: number): string => {
  const [unit, size] = Object.entries(unitMs).find(([, each]) => ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
};

/** Reads a duration between two bounds. The bounds and the value are in milliseconds. */
export const duration = (minMs: number, maxMs: number): Kind<number> =>
  kind({ type: 'string', pattern: whole.source }, (place, value) => {
    if (typeof value !== 'string') return refuseType(place, 'a duration as in "30s"', value);
    const ms = parseDuration(value);
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
    const bounds = `from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
    return refuseValue(
      place,
      `must be a duration ${bounds}, but is "${value}"`,
      'as in "30s", "24h"',
    );
  });
