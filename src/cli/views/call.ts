/** Formats answers to calls for people: values, grades, states. */

import { clip } from '#domain/cut.ts';
import { AppError } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import type { CallView } from '#wire/public-api/sessions/call.ts';
import type { Grade, GradeChange } from '#wire/public-api/sessions/grade.ts';
import type { Colors } from '../terminal/context.ts';
import {
  elapsedMs,
  formatChanges,
  formatCount,
  formatDuration,
  formatFields,
  formatRows,
} from '../terminal/print.ts';

/** Output of a call of kind `state` on one entity. */
export type StatePage = {
  entity: string;
  rows: Row[];
  total: number;
  /** Offset of the next row; absent if there is none. */
  next?: number;
};

type Details = { trace?: unknown; problems?: unknown } | undefined;

const traceLines = (details: unknown): string[] => {
  const trace = (details as Details)?.trace;
  return typeof trace === 'string' ? [trace.trimEnd()] : [];
};

/** Returns all places of the input that have a problem; the message itself names only the first. */
const problemLines = (details: unknown): string[] => {
  const problems = (details as Details)?.problems;
  if (!Array.isArray(problems) || problems.length < 2) return [];
  return problems.map(({ path, message }) => `  ${path} ${message}`);
};

/** Returns the output of a call that succeeded. Throws the call's error if it failed. */
export const outputOf = (call: CallView): unknown => {
  if (call.state === 'succeeded') return call.output;
  const what = call.name ?? call.kind;
  if (call.error === null) throw new AppError('conflict', `${what} is ${call.state}`);
  const { code, message, path, details } = call.error;
  const place = path === undefined || message.includes(path) ? '' : ` (at ${path})`;
  const lines = [...problemLines(details), ...traceLines(details)].map((line) => `\n${line}`);
  throw new AppError('invalid', `${what} failed: ${message}${place} [${code}]${lines.join('')}`);
};

/** Formats the effect of a call: `issues: 1 updated · 12 ms`. */
export const summariseCall = (call: CallView): string => {
  const ms = elapsedMs(call.queuedAt, call.answeredAt);
  return [formatChanges(call.changes), ms === undefined ? call.state : formatDuration(ms)].join(
    ' · ',
  );
};

const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '-');

const markOf = (verdict: Grade['verdict'], colors: Colors): string =>
  ({ pass: colors.green('✓'), fail: colors.red('✗'), unknown: colors.yellow('?') })[verdict];

const checkLines = (check: Grade['checks'][number], colors: Colors): string[] => {
  const mark = markOf(check.verdict, colors);
  if (check.passed) return [`${mark} ${check.name}`];
  return [
    `${mark} ${check.name}`,
    `    expected ${valueText(check.expected)}`,
    `    found    ${valueText(check.found)}`,
    ...(check.detail == null || check.detail === '' ? [] : [`    ${valueText(check.detail)}`]),
  ];
};

const verdictText = ({ verdict, checks, error }: Grade, colors: Colors): string => {
  const all = formatCount(checks.length, 'check');
  const count = (kind: Grade['verdict']): number =>
    checks.filter((check) => check.verdict === kind).length;
  switch (verdict) {
    case 'pass':
      return colors.green('passed');
    case 'fail':
      return colors.red(`failed: ${count('fail')} of ${all}`);
    case 'unknown':
      return colors.yellow(
        error === undefined
          ? `unknown: ${count('unknown')} of ${all} could not be judged`
          : `unknown: the grader failed: ${error.message} [${error.code}]`,
      );
  }
};

const longestField = 60;

const fieldText = ([name, { before, after }]: [string, GradeChange['fields'][string]]): string => {
  const [from, to] = [before, after].map((value) =>
    value === undefined ? '-' : clip(JSON.stringify(value), longestField),
  );
  return `    ${name}: ${from} → ${to}`;
};

/** Formats a changed row. The fields are shown only for updates; for other changes they would be the whole row. */
const changeLines = ({ entity, key, change, fields, explainedBy }: GradeChange): string[] => {
  const by = explainedBy === undefined ? '' : ` · ${explainedBy.join(', ') || 'unexplained'}`;
  return [
    `  ${entity} ${JSON.stringify(key)} ${change}${by}`,
    ...(change === 'updated' ? Object.entries(fields).map(fieldText) : []),
  ];
};

const mostUnexplained = 10;

const unexplainedLines = ({ changes, unexplained = [] }: Grade): string[] => {
  const count = changes?.unexplained ?? 0;
  if (count === 0) return [];
  const shown = unexplained.slice(0, mostUnexplained);
  const more = count - shown.length;
  return [
    `changed without being required by a check: ${formatCount(count, 'row')}`,
    ...shown.flatMap(changeLines),
    ...(more > 0 ? [`  and ${more} more; see them with --changes`] : []),
  ];
};

/** Formats each check, the changes that no check explains, and the verdict. */
export const describeGrade = (grade: Grade, colors: Colors): string =>
  [
    ...grade.checks.flatMap((check) => checkLines(check, colors)),
    ...unexplainedLines(grade),
    verdictText(grade, colors),
  ].join('\n');

/** Formats a page of the changed rows, each with the check that explains it. */
export const describeChanges = ({ changes }: Grade): string => {
  if (changes === undefined) return 'the grade does not list the changed rows';
  const { inserted, updated, deleted, unexplained, rows, next } = changes;
  const more = next === undefined ? '' : `; continue with --offset ${next}`;
  const counts = `${inserted} inserted, ${updated} updated, ${deleted} deleted, ${unexplained} unexplained`;
  return [...rows.flatMap(changeLines), `${counts}${more}`].join('\n');
};

/** Formats row counts and the digest of the state. */
export const describeCounts = (output: {
  counts: Record<string, number>;
  digest: string;
}): string => formatFields([...Object.entries(output.counts), ['digest', output.digest]]);

/** Formats one page of an entity's rows. */
export const describePage = (page: StatePage, columns: number): string => {
  if (page.rows.length === 0) return `no rows of ${page.entity} match`;
  const shown = `${page.rows.length} of ${formatCount(page.total, 'row')}`;
  const more = page.next === undefined ? '' : `; continue with --offset ${page.next}`;
  return [formatRows(page.rows, { columns }), `${shown}${more}`].join('\n');
};
