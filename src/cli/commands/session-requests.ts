/** `svc worlds session requests`: what the session was asked, by tools and over its API. */

import type { Command } from 'commander';
import { limits } from '#domain/limits.ts';
import {
  addCommand,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { addRequestFilters, filterOf, type RequestOptions, readRequests } from '../requests.ts';
import { describeLedger } from '../views/request.ts';

type Options = ServiceOptions & RequestOptions & { limit: number };

export const addSessionRequests = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'requests <session>',
    summary: 'the request ledger of a session, oldest first, also when the session is over',
    example: 'svc worlds session requests <session> --via api',
  }).option(
    '--limit <number>',
    'entries at most',
    parseNumber({ min: 1, max: limits.statePageRows, whole: true }),
    limits.statePageRows,
  );
  withService(addRequestFilters(command)).action(async (sessionId: string, options: Options) => {
    const client = clientFor(context, options);
    const question = { client, sessionId, filter: filterOf(options), limit: options.limit };
    const found = await readRequests(context, question);
    const { data, totalItems, dropped } = found;
    printAnswer(context, options, found, () =>
      [
        describeLedger(data, context.colors),
        ...(data.length < totalItems ? [`${data.length} of ${totalItems}; see --limit`] : []),
        ...(dropped === undefined
          ? []
          : [`${dropped} more are not there: they made room or never came`]),
      ].join('\n'),
    );
  });
};
