/** Step 4: the orchestrator fills its pool; a session that opens later need not wait for a host. */
import { AppError } from '#domain/error.ts';
import { formatCount, formatDuration } from '../../print.ts';
import { countWarm } from '../../up/pool-look.ts';
import type { Up } from '../../up/up.ts';
import type { Step } from '../timeline.ts';

const deadlineMs = 90_000;

export const waitForHosts = async (
  step: Step,
  up: Up,
  count: number,
  signal: AbortSignal,
): Promise<void> => {
  const timeUp = AbortSignal.timeout(deadlineMs);
  let ids: string[] = [];
  try {
    await up.watchHosts(
      (hosts) => {
        step.tell(`${countWarm(hosts)} of ${formatCount(count, 'world host')} warm`);
        ids = hosts.filter(({ state }) => state === 'warm').map(({ id }) => id);
        return ids.length >= count;
      },
      AbortSignal.any([signal, timeUp]),
    );
  } catch (error) {
    if (signal.aborted || !timeUp.aborted) throw error;
    const found = `${ids.length} of ${formatCount(count, 'world host')} warm`;
    throw new AppError('timeout', `${found} after ${formatDuration(deadlineMs)}`);
  }
  const kind = up.runtime.runtime === 'docker' ? 'container' : 'process';
  step.note(`${formatCount(ids.length, 'world host')} warm, each a ${kind} of its own`);
  step.aside(ids.join('\n'));
};
