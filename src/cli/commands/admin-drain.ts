/** `svc admin drain`: takes hosts out of service; sessions on them go on unless told otherwise. */
import type { Command } from 'commander';
import { drainHosts } from '#wire/admin-api/operations.ts';
import {
  addCommand,
  type OperatorClientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../report.ts';
import { describeDrained } from '../views/hosts.ts';

type Options = ServiceOptions & {
  pool?: string;
  installation?: string;
  endSessions?: boolean;
  yes?: boolean;
};

/** What is asked for: one host, or a pool; a pool wants to be confirmed. */
const bodyOf = (hostId: string | undefined, options: Options) => {
  const { pool, installation, endSessions = false, yes } = options;
  if ((hostId === undefined) === (pool === undefined)) {
    throw usageError('name one host, or a pool with --pool');
  }
  if (pool === undefined && installation !== undefined) {
    throw usageError('--installation goes with --pool: a host is of one installation alone');
  }
  if (hostId !== undefined) return { hostId, endSessions };
  if (yes !== true) {
    const ending = endSessions ? ' and ends the sessions on them' : '';
    throw usageError(`this drains all hosts of "${pool}"${ending}; add --yes to do it`);
  }
  return { pool: pool ?? '', endSessions, ...(installation === undefined ? {} : { installation }) };
};

export const addAdminDrain = (
  admin: Command,
  context: Context,
  clientFor: OperatorClientFor,
): void => {
  const command = addCommand(admin, {
    usage: 'drain [host]',
    summary: 'take a host, or the hosts of a pool, out of service; the pool replaces them',
    example: 'svc admin drain <host>\nsvc admin drain --pool default --yes',
  })
    .option('--pool <pool>', 'all hosts of a pool that serve no session')
    .option('--installation <id>', 'of the pool, where several have one of that name')
    .option('--end-sessions', 'also hosts that serve a session, which ends it')
    .option('--yes', 'needed to drain a pool');
  withService(command).action(async (hostId: string | undefined, options: Options) => {
    const { body } = await clientFor(options).send(drainHosts, { body: bodyOf(hostId, options) });
    printAnswer(context, options, body, () => describeDrained(body));
  });
};
