/** `svc admin pools`: the pools of world hosts, and why one launches none. */
import type { Command } from 'commander';
import { listPools } from '#wire/admin-api/operations.ts';
import {
  addCommand,
  type OperatorClientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import { type Context, roomOf } from '../context.ts';
import { describePools } from '../views/pools.ts';

export const addAdminPools = (
  admin: Command,
  context: Context,
  clientFor: OperatorClientFor,
): void => {
  const command = addCommand(admin, {
    usage: 'pools',
    summary: 'the pools of world hosts, with targets and states, and why one launches none',
    example: 'svc admin pools',
  });
  withService(command).action(async (options: ServiceOptions) => {
    const { body } = await clientFor(options).send(listPools, {});
    printAnswer(context, options, body, () =>
      describePools(body, { colors: context.colors, room: roomOf(context.out) }),
    );
  });
};
