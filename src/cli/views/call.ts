/** Answers of calls as a person reads them: values, grades, states. */
import { AppError } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import type { CallView } from '#wire/public-api/call.ts';
import type { Colors } from '../terminal/context.ts';
import {
  elapsedMs,
  formatChanges,
  formatCount,
  formatDuration,
  formatFields,
  formatRows,
} from '../terminal/print.ts';

/** Output of a call of kind `grade`. */
export type Grade = {
  passed: boolean;
  checks: { name: string; passed: boolean; expected: unknown; found: unknown; detail?: unknown }[];
};

/** Output of a call of kind `state` on one entity. */
export type StatePage = {
  entity: string;
  rows: Row[];
  total: number;
  /** Offset of the row that follows, where one does. */
  next?: number;
};

type Details = { trace?: unknown; problems?: unknown } | undefined;

const traceLines = (details: unknown): string[] => {
  const trace = (details as Details)?.trace;
  return typeof trace === 'string' ? [trace.trimEnd()] : [];
};

/** All places at fault, when the message names but the first of them. */
const problemLines = (details: unknown): string[] => {
  const problems = (details as Details)?.problems;
  if (!Array.isArray(problems) || problems.length < 2) return [];
  return problems.map(({ path, message }) => `  ${path} ${message}`);
};

/** The output of a call that succeeded. Throws with the call's own reason when it did not. */
export const outputOf = (call: CallView): unknown => {
  if (call.state === 'succeeded') return call.output;
  const what = call.name ?? call.kind;
  if (call.error === null) throw new AppError('conflict', `${what} is ${call.state}`);
  const { code, message, path, details } = call.error;
  const place = path === undefined || message.includes(path) ? '' : ` (at ${path})`;
  const lines = [...problemLines(details), ...traceLines(details)].map((line) => `\n${line}`);
  throw new AppError('invalid', `${what} failed: ${message}${place} [${code}]${lines.join('')}`);
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
  const more = page.next === undefined ? '' : `; go on with --offset ${page.next}`;
  return [formatRows(page.rows, { columns }), `${told}${more}`].join('\n');
};
