/** `svc worlds session requests`: what the session was asked, by tools and over its API. */

import { type Command, Option } from 'commander';
import { ledgerEntity } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import { runCall } from '../calls.ts';
import {
  addCommand,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { describeLedger, type LedgerEntry, outputOf } from '../views/call.ts';

type Options = ServiceOptions & { via?: string; limit: number };

export const addSessionRequests = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'requests <session>',
    summary: 'the request ledger of a session, oldest first',
    example: 'svc worlds session requests <session> --via api',
  })
    .addOption(
      new Option('--via <way>', 'only requests that came this way').choices([
        'tool',
        'api',
        'session',
      ]),
    )
    .option(
      '--limit <number>',
      'entries at most',
      parseNumber({ min: 1, max: limits.statePageRows, whole: true }),
      limits.statePageRows,
    );
  withService(command).action(async (sessionId: string, { via, limit, ...options }: Options) => {
    const where = via === undefined ? {} : { where: { via } };
    const input = { entity: ledgerEntity, limit, ...where };
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'state', input } });
    const { rows } = outputOf(call) as { rows: LedgerEntry[] };
    printAnswer(context, options, call, () => describeLedger(rows, context.colors));
  });
};
