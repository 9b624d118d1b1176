/** `svc admin hosts`: world hosts by state, with their sessions, and why they ended. */
import { type Command, Option } from 'commander';
import { type HostState, hostStates } from '#domain/host.ts';
import { listHosts } from '#wire/admin-api/operations.ts';
import {
  addCommand,
  type OperatorClientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import { type Context, roomOf } from '../context.ts';
import { describeHosts } from '../views/hosts.ts';

type Options = ServiceOptions & { pool?: string; state?: HostState; limit: number };

export const addAdminHosts = (
  admin: Command,
  context: Context,
  clientFor: OperatorClientFor,
): void => {
  const command = addCommand(admin, {
    usage: 'hosts',
    summary: 'world hosts with their sessions; --state gone shows why recent ones ended',
    example: 'svc admin hosts --pool default\nsvc admin hosts --state gone --limit 20',
  })
    .option('--pool <pool>', 'those of one pool')
    .addOption(new Option('--state <state>', 'those in one state').choices(hostStates))
    .option(
      '--limit <n>',
      'at most so many',
      parseNumber({ min: 1, max: 10_000, whole: true }),
      100,
    );
  withService(command).action(async (options: Options) => {
    const { pool, state, limit } = options;
    const query = {
      limit,
      ...(pool === undefined ? {} : { pool }),
      ...(state === undefined ? {} : { state }),
    };
    const { body } = await clientFor(options).send(listHosts, { query });
    printAnswer(context, options, body, () =>
      describeHosts(body, { colors: context.colors, room: roomOf(context.out) }),
    );
  });
};
