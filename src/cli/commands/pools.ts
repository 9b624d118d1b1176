/**
 * `svc pools check`: lists every mistake in a pools file, as the orchestrator would report them. `svc admin pools`
 * shows the current pools.
 */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { runtimeNames } from '#domain/pool.ts';
import { checkPoolsFile, readCheckContext } from '#pools/check.ts';
import type { Context } from '../terminal/context.ts';
import { addCommand, setVerdict } from './command.ts';

type Options = { runtime?: string };

/** Prints the problems of the file. Returns true if the file has no mistakes. */
const check = async (context: Context, file: string, { runtime }: Options): Promise<boolean> => {
  const env = { ...context.env, ...(runtime === undefined ? {} : { SVC_RUNTIME: runtime }) };
  const found = await checkPoolsFile(resolve(context.cwd, file), readCheckContext(env));
  context.out.write(`${found.lines.join('\n')}\n`);
  return found.isRight;
};

const addPoolsCheck = (pools: Command, context: Context): void => {
  addCommand(pools, {
    usage: 'check <file>',
    summary: 'check a pools file and list all problems; exit status 1 if there are any',
    example: 'svc pools check pools.toml --runtime kubernetes',
    decides: true,
  })
    .addOption(
      new Option(
        '--runtime <runtime>',
        'runtime to check for (default: $SVC_RUNTIME, or what all runtimes have in common)',
      ).choices(runtimeNames),
    )
    .action(async (file: string, options: Options) => {
      setVerdict(context, await check(context, file, options));
    });
};

export const addPools = (program: Command, context: Context): void => {
  const pools = program.command('pools').description('check pools files; for operators');
  addPoolsCheck(pools, context);
};
