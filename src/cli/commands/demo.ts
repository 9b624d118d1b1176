/**
 * `svc demo`: runs the whole service in a temporary folder, shows a session from start to end, and checks each result.
 */
import { type Command, Option } from 'commander';
import { runDemo } from '../demo/demo.ts';
import type { Context } from '../terminal/context.ts';
import { listenForStop } from '../terminal/stopping.ts';
import { type RuntimeWish, runtimeWishes } from '../up/runtime.ts';
import { addCommand } from './command.ts';

export const addDemo = (program: Command, context: Context): void => {
  addCommand(program, {
    usage: 'demo',
    summary: 'show one world session end to end, in a temporary folder, and check each step',
    example: 'svc demo --runtime process',
  })
    .addOption(
      new Option('--runtime <runtime>', 'how world hosts run; auto: in Docker if that is available')
        .choices(runtimeWishes)
        .default('auto'),
    )
    .action(async ({ runtime }: { runtime: RuntimeWish }) => {
      const stopping = listenForStop();
      await runDemo({ context, runtime, stopping });
      stopping.release();
    });
};
