/** What a check found, before it has its check's name, and how it is put in words. */
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

/** The first three of some names, and how many there are beside them. */
export const listNames = (names: readonly string[], between = ', '): string =>
  names.length <= 3
    ? names.join(between)
    : `${names.slice(0, 3).join(between)} and ${names.length - 3} more`;
