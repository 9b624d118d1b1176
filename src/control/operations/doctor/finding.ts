/** Finding of a check, to which the name of the check is added later, and helpers to word it. */
import type { DoctorCheck } from '#wire/admin-api/operations.ts';

export type Finding = Omit<DoctorCheck, 'name'>;

export const ok = (message: string): Finding => ({ status: 'ok', message, fix: null });
export const warning = (message: string, fix: string): Finding => ({
  status: 'warning',
  message,
  fix,
});
export const failed = (message: string, fix: string): Finding => ({
  status: 'failed',
  message,
  fix,
});

/** Returns the first three names, followed by the number of the remaining ones. */
export const listNames = (names: readonly string[], between = ', '): string =>
  names.length <= 3
    ? names.join(between)
    : `${names.slice(0, 3).join(between)} and ${names.length - 3} more`;
