/** Step 4: the orchestrator fills its pool; a session that opens later need not wait for a host. */
import { formatCount } from '../../print.ts';
import { countWarm, type Up } from '../../up/up.ts';
import type { Step } from '../timeline.ts';

export const waitForHosts = async (
  step: Step,
  up: Up,
  count: number,
  signal: AbortSignal,
): Promise<void> => {
  let ids: string[] = [];
  await up.watchHosts((hosts) => {
    step.tell(`${countWarm(hosts)} of ${formatCount(count, 'world host')} warm`);
    ids = hosts.filter(({ state }) => state === 'warm').map(({ id }) => id);
    return ids.length >= count;
  }, signal);
  const kind = up.runtime.runtime === 'docker' ? 'container' : 'process';
  step.note(`${formatCount(ids.length, 'world host')} warm, each a ${kind} of its own`);
  step.aside(ids.join('\n'));
};
