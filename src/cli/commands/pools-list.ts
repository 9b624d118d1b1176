/** `svc pools list`: the pools of world hosts, and why one launches none. */
import type { Command } from 'commander';
import { listPools } from '#wire/pool-api/operations.ts';
import { addCommand, printAnswer, type ServiceOptions, withService } from '../command.ts';
import { connectOperator } from '../connect.ts';
import type { Context } from '../context.ts';
import { describePools } from '../views/pools.ts';

export const addPoolsList = (pools: Command, context: Context): void => {
  const command = addCommand(pools, {
    usage: 'list',
    summary: 'the pools of world hosts, and why one launches none; it takes the pool token',
    example: 'svc pools list',
  });
  withService(command).action(async (options: ServiceOptions) => {
    const { env, cwd } = context;
    const client = connectOperator({ env, cwd, data: options.data });
    const { body } = await client.send(listPools, {});
    printAnswer(context, options, body, () => describePools(body.pools, context.colors));
  });
};
