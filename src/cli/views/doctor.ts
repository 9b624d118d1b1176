/** What the checks of an installation found, as an operator reads it. */
import type { DoctorCheck } from '#wire/admin-api/operations.ts';
import type { Colors } from '../context.ts';
import { formatTable } from '../print.ts';

const markOf = (status: DoctorCheck['status'], colors: Colors): string => {
  if (status === 'ok') return colors.green('✓');
  return status === 'warning' ? colors.yellow('!') : colors.red('✗');
};

/** One check a line, below what is wrong the way out, and last how many are well. */
export const describeChecks = (checks: readonly DoctorCheck[], colors: Colors): string => {
  const lines = checks.flatMap(({ name, status, message, fix }) => [
    [markOf(status, colors), name, message],
    ...(fix === null ? [] : [['', '', colors.dim(`→ ${fix}`)]]),
  ]);
  const well = checks.filter(({ status }) => status === 'ok').length;
  return `${formatTable(lines)}\n\n${well} of ${checks.length} checks are well`;
};
