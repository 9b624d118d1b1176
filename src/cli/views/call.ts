/** Answers of calls as a person reads them: values, grades, states, the request ledger. */
import type { ChangeCounts } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import type { CallView } from '#wire/public-api/call.ts';
import type { Colors } from '../context.ts';
import {
  elapsedMs,
  formatChanges,
  formatCount,
  formatDuration,
  formatFields,
  formatRows,
  formatTable,
} from '../print.ts';

/** Output of a call of kind `grade`. */
export type Grade = {
  passed: boolean;
  checks: { name: string; passed: boolean; expected: unknown; found: unknown; detail?: unknown }[];
};

/** Output of a call of kind `state` on one entity. */
export type StatePage = { entity: string; rows: Row[]; total: number };

/** A row of the entity `svc_requests`. */
export type LedgerEntry = {
  id: number | string;
  at: string;
  via: string;
  operation: string | null;
  method: string | null;
  path: string | null;
  status: number | null;
  duration_ms: number;
  changes: ChangeCounts;
};

/** The output of a call that succeeded. Throws with the call's own reason when it did not. */
export const outputOf = (call: CallView): unknown => {
  if (call.state === 'succeeded') return call.output;
  const what = call.name ?? call.kind;
  if (call.error === null) throw new AppError('conflict', `${what} is ${call.state}`);
  const { code, message, path, details } = call.error;
  const place = path === undefined ? '' : ` (at ${path})`;
  const trace = (details as { trace?: unknown } | undefined)?.trace;
  const lines = typeof trace === 'string' ? `\n${trace.trimEnd()}` : '';
  throw new AppError('invalid', `${what} failed: ${message}${place} [${code}]${lines}`);
};

/** `issues: 1 updated · 12 ms`. */
export const summariseCall = (call: CallView): string => {
  const ms = elapsedMs(call.queuedAt, call.answeredAt);
  return [formatChanges(call.changes), ms === undefined ? call.state : formatDuration(ms)].join(
    ' · ',
  );
};

const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '-');

const checkLines = (check: Grade['checks'][number], colors: Colors): string[] => {
  const mark = check.passed ? colors.green('✓') : colors.red('✗');
  if (check.passed) return [`${mark} ${check.name}`];
  return [
    `${mark} ${check.name}`,
    `    expected ${valueText(check.expected)}`,
    `    found    ${valueText(check.found)}`,
    ...(check.detail == null || check.detail === '' ? [] : [`    ${valueText(check.detail)}`]),
  ];
};

/** Each check, then the verdict. */
export const describeGrade = (grade: Grade, colors: Colors): string => {
  const failed = grade.checks.filter((check) => !check.passed).length;
  const verdict = grade.passed
    ? colors.green('passed')
    : colors.red(`failed: ${failed} of ${formatCount(grade.checks.length, 'check')}`);
  return [...grade.checks.flatMap((check) => checkLines(check, colors)), verdict].join('\n');
};

/** Row counts and the digest of the state. */
export const describeCounts = (output: {
  counts: Record<string, number>;
  digest: string;
}): string => formatFields([...Object.entries(output.counts), ['digest', output.digest]]);

/** One page of an entity's rows. */
export const describePage = (page: StatePage, columns: number): string => {
  if (page.rows.length === 0) return `no rows of ${page.entity} match`;
  const told = `${page.rows.length} of ${formatCount(page.total, 'row')}`;
  return [formatRows(page.rows, { columns }), told].join('\n');
};

/** The request ledger, oldest first. */
export const describeLedger = (entries: readonly LedgerEntry[], colors: Colors): string => {
  if (entries.length === 0) return 'no requests';
  return formatTable([
    ['AT', 'VIA', 'OPERATION', 'REQUEST', 'STATUS', 'TOOK', 'CHANGES'].map(colors.dim),
    ...entries.map((entry) => [
      entry.at.slice(11, 23),
      entry.via,
      entry.operation ?? '-',
      entry.method === null ? '-' : `${entry.method} ${entry.path}`,
      entry.status === null ? '-' : String(entry.status),
      formatDuration(entry.duration_ms),
      Object.keys(entry.changes).length === 0 ? '-' : formatChanges(entry.changes),
    ]),
  ]);
};
