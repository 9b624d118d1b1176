/** How much of the sweep this run does, and on which runtimes. */
import { inject } from 'vitest';
import { dockerAnswers } from '../support/prepare-docker.ts';
import type { Service } from './service.ts';

const { total, times, only } = inject('sweep');

/** Above this a sweep takes its time anyway, and does what takes long by nature. */
const shortTimes = 50;
export const isLong = total > shortTimes;

/** Whether a single case is asked for, by its number. */
export const isSingle = only !== null;

export type Runtime = Service['runtime'];

/** The runtimes to run on; says so where Docker is left out, and throws where it alone is asked for. */
export const findRuntimes = async (): Promise<Runtime[]> => {
  const asked = (['process', 'docker'] as const).filter((runtime) => times[runtime] > 0);
  if (!asked.includes('docker') || (await dockerAnswers())) return asked;
  if (asked.length === 1) throw new Error('RUNTIME=docker: no Docker engine answers here');
  console.info('left out on Docker: no engine answers here');
  return asked.filter((runtime) => runtime !== 'docker');
};
