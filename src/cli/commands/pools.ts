/**
 * `svc pools check`: every mistake in a file of pools, as the orchestrator finds them. What the pools are
 * just now is `svc admin pools`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Context } from '../terminal/context.ts';
import { passOn, programs } from '../up/programs.ts';
import { exitStatus } from '../views/report.ts';
import { addCommand } from './command.ts';

type Options = { runtime?: string };

/** Lets the orchestrator check the file, and answers whether it is right. */
const check = async (context: Context, file: string, { runtime }: Options): Promise<boolean> => {
  const env = {
    ...passOn(context.env),
    ...(runtime === undefined ? {} : { SVC_RUNTIME: runtime }),
  };
  const words = [programs.orchestrator, 'check-config', resolve(context.cwd, file)];
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (chunk: Buffer) => context.out.write(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => context.err.write(chunk.toString()));
  const [status] = await once(child, 'close');
  return status === 0;
};

const addPoolsCheck = (pools: Command, context: Context): void => {
  addCommand(pools, {
    usage: 'check <file>',
    summary: 'say everything that is wrong with a file of pools; exit status 1 when anything is',
    example: 'svc pools check pools.toml --runtime kubernetes',
  })
    .addOption(
      new Option(
        '--runtime <runtime>',
        'what it is to run on; absent: $SVC_RUNTIME, or what all runtimes have in common',
      ).choices(['process', 'docker', 'kubernetes']),
    )
    .action(async (file: string, options: Options) => {
      if (!(await check(context, file, options))) context.setExitStatus(exitStatus.failed);
    });
};

export const addPools = (program: Command, context: Context): void => {
  const pools = program.command('pools').description('for operators: check a file of pools');
  addPoolsCheck(pools, context);
};
