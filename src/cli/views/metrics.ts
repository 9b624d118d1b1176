/** Formats metrics for people: tables, with a bar next to a measure over time. */
import type { DailyMetricsView } from '#wire/public-api/observability/metrics.ts';
import type { View } from '../terminal/context.ts';
import { cutLine } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';
import { dollars } from './trace.ts';

const barChars = 12;

const numberText = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));

/** Formats a time to the minute, the shortest unit of a time dimension: `2026-03-01 09:30`. */
const minuteOf = (time: string): string => cutLine(time.slice(0, 16).replace('T', ' '));

const valueText = (field: string, value: unknown): string => {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'number') {
    return field.endsWith('Cost') ? dollars(value) : numberText(value);
  }
  if (Array.isArray(value)) {
    const parts = value.map((one) =>
      Array.isArray(one)
        ? `${numberText(Number(one[0]))}–${numberText(Number(one[1]))}: ${one[2]}`
        : String(one),
    );
    return cutLine(parts.join(', '));
  }
  return field === 'time_dimension' ? minuteOf(String(value)) : cutLine(String(value));
};

const barOf = (value: unknown, most: number): string =>
  typeof value === 'number' && value > 0 && most > 0
    ? '█'.repeat(Math.max(1, Math.round((value / most) * barChars)))
    : '';

/** Formats rows of metrics. With a time dimension, the last number of each row has a bar. */
export const listMetricRows = (rows: readonly Record<string, unknown>[], view: View): string => {
  const [first] = rows;
  if (first === undefined) return 'there is no data for this query';
  const fields = Object.keys(first);
  const drawn = fields.findLast((field) => typeof first[field] === 'number');
  const hasBars = fields.includes('time_dimension') && drawn !== undefined;
  const numbers = rows.map((row) => Number(row[drawn ?? ''] ?? 0));
  const most = Math.max(...numbers);
  return formatFitted(
    [...fields, ...(hasBars ? [''] : [])],
    rows.map((row) => [
      ...fields.map((field) => valueText(field, row[field])),
      ...(hasBars ? [barOf(row[drawn], most)] : []),
    ]),
    view,
    { leftOut: [''] },
  );
};

export const listDays = (days: readonly DailyMetricsView[], view: View): string => {
  const most = Math.max(0, ...days.map(({ countTraces }) => countTraces));
  return formatFitted(
    ['DAY', 'TRACES', 'OBSERVATIONS', 'COST', 'MOST EXPENSIVE MODEL', ''],
    days.map(({ date, countTraces, countObservations, totalCost, usage }) => [
      ...[date, String(countTraces), String(countObservations), dollars(totalCost)],
      ...[cutLine(usage[0]?.model ?? '-'), barOf(countTraces, most)],
    ]),
    view,
    { none: 'there is no data for these days', cut: ['MOST EXPENSIVE MODEL'] },
  );
};
