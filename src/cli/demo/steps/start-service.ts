/** Step 2: the service starts on a folder of its own, on any free port. */
import type { Context } from '../../context.ts';
import { formatFields } from '../../print.ts';
import type { RuntimeWish } from '../../up/runtime-choice.ts';
import { startUp, type Up } from '../../up/up.ts';
import type { Step } from '../timeline.ts';

export type ServiceOptions = {
  context: Context;
  data: string;
  runtime: RuntimeWish;
  poolSize: number;
  signal: AbortSignal;
};

export const startService = async (step: Step, options: ServiceOptions): Promise<Up> => {
  const { context, data, runtime, poolSize, signal } = options;
  const up = await startUp({
    data,
    port: 0,
    runtime,
    poolSize,
    env: context.env,
    signal,
    tell: step.tell,
    say: step.note,
  });
  step.note(
    formatFields([
      ['API', up.url],
      ['runtime', `${context.colors.bold(up.runtime.runtime)}: ${up.runtime.why}`],
      ['data', up.folder.path],
    ]),
  );
  return up;
};
