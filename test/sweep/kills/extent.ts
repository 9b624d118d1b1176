/** Decides how many cases of the sweep this run executes, and on which runtimes. */
import { inject } from 'vitest';
import { dockerAnswers } from '../../support/programs/prepare-docker.ts';
import type { Service } from './service.ts';

const { total, times, only } = inject('sweep');

/**
 * Largest number of cases of a short sweep. A sweep with more cases takes long anyway, and includes faults that take
 * long.
 */
const shortTimes = 50;
export const isLong = total > shortTimes;

/** True if the run has only a single case, which was requested by its number. */
export const isSingle = only !== null;

export type Runtime = Service['runtime'];

/**
 * Returns the runtimes to run on. Reports when Docker is unavailable and left out, and throws when it is the only one
 * requested.
 */
export const findRuntimes = async (): Promise<Runtime[]> => {
  const asked = (['process', 'docker'] as const).filter((runtime) => times[runtime] > 0);
  if (!asked.includes('docker') || (await dockerAnswers())) return asked;
  if (asked.length === 1) throw new Error('RUNTIME=docker: no Docker engine answers here');
  console.info('left out on Docker: no engine answers here');
  return asked.filter((runtime) => runtime !== 'docker');
};
