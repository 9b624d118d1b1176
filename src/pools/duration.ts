/** Durations as operators write them: a number with its unit, or several, as in `90s` or `1h30m`. */
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

/** The milliseconds of a duration; undefined for what is none. */
export const parseDuration = (written: string): number | undefined => {
  if (!whole.test(written)) return undefined;
  const parts = [...written.matchAll(part)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
};

/** The shortest way to write so many milliseconds in one unit. */
export const formatDuration = (ms: number): string => {
  const [unit, size] = Object.entries(unitMs).find(([, each]) => ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
};

/** A duration within bounds, in milliseconds. */
export const duration = (minMs: number, maxMs: number): Kind<number> =>
  kind({ type: 'string', pattern: whole.source }, (place, value) => {
    if (typeof value !== 'string') return refuseType(place, 'a duration as in "30s"', value);
    const ms = parseDuration(value);
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
    const bounds = `from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
    return refuseValue(place, `must be a duration ${bounds}, is "${value}"`, 'as in "30s", "24h"');
  });
