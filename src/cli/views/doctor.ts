/** What the checks of an installation found, as an operator reads it. */
import type { DoctorCheck } from '#wire/admin-api/operations.ts';
import type { Colors } from '../context.ts';
import { formatTable, wrapLines } from '../print.ts';

/** Columns that a line has before its message, beside the check's name. */
const markWidth = 1;
const gaps = 4;

const markOf = (status: DoctorCheck['status'], colors: Colors): string => {
  if (status === 'ok') return colors.green('✓');
  return status === 'warning' ? colors.yellow('!') : colors.red('✗');
};

/** One check a line, below what is wrong the way out, and last how many are well. */
export const describeChecks = (
  checks: readonly DoctorCheck[],
  { colors, room }: { colors: Colors; room: number },
): string => {
  const names = Math.max(0, ...checks.map(({ name }) => name.length));
  const rest = room - (markWidth + names + gaps);
  const lines = checks.flatMap(({ name, status, message, fix }) => {
    const [first = '', ...more] = wrapLines(message, rest);
    const wayOut = fix === null ? [] : wrapLines(`→ ${fix}`, rest).map(colors.dim);
    return [
      [markOf(status, colors), name, first],
      ...[...more, ...wayOut].map((line) => ['', '', line]),
    ];
  });
  const well = checks.filter(({ status }) => status === 'ok').length;
  return `${formatTable(lines)}\n\n${well} of ${checks.length} checks are well`;
};
