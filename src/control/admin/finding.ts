/** What a check found, before it has its check's name. */
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
