/** Metrics as a person reads them: tables, with a bar beside a first measure over time. */
import type { DailyMetricsView } from '#wire/public-api/metrics.ts';
import { cutLine, formatTable } from '../terminal/print.ts';
import { dollars, orNone } from './trace.ts';

const valueChars = 50;
const barChars = 24;

const numberText = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));

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
    return cutLine(parts.join(', '), 2 * valueChars);
  }
  return cutLine(String(value), valueChars);
};

const barOf = (value: unknown, most: number): string =>
  typeof value === 'number' && value > 0 && most > 0
    ? '█'.repeat(Math.max(1, Math.round((value / most) * barChars)))
    : '';

/** Rows of metrics. Over time the last number of each row has a bar. */
export const listMetricRows = (rows: readonly Record<string, unknown>[]): string => {
  const [first] = rows;
  if (first === undefined) return 'nothing of this';
  const fields = Object.keys(first);
  const drawn = fields.findLast((field) => typeof first[field] === 'number');
  const hasBars = fields.includes('time_dimension') && drawn !== undefined;
  const numbers = rows.map((row) => Number(row[drawn ?? ''] ?? 0));
  const most = Math.max(...numbers);
  return formatTable([
    [...fields, ...(hasBars ? [''] : [])],
    ...rows.map((row) => [
      ...fields.map((field) => valueText(field, row[field])),
      ...(hasBars ? [barOf(row[drawn], most)] : []),
    ]),
  ]);
};

export const listDays = (days: readonly DailyMetricsView[]): string => {
  const most = Math.max(0, ...days.map(({ countTraces }) => countTraces));
  return orNone(
    [
      ['DAY', 'TRACES', 'OBSERVATIONS', 'COST', 'DEAREST MODEL', ''],
      ...days.map(({ date, countTraces, countObservations, totalCost, usage }) => [
        ...[date, String(countTraces), String(countObservations), dollars(totalCost)],
        ...[cutLine(usage[0]?.model ?? '-', valueChars), barOf(countTraces, most)],
      ]),
    ],
    'nothing in these days',
  );
};
