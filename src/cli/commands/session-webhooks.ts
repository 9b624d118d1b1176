/** `svc worlds session webhooks`: lists the webhook subscriptions of an open session. */
import type { Command } from 'commander';
import { limits } from '#domain/limits.ts';
import type { Client } from '#wire/client.ts';
import { listWebhooks } from '#wire/public-api/operations.ts';
import type { SubscriptionList } from '#wire/public-api/sessions/delivery.ts';
import type { Context } from '../terminal/context.ts';
import { describeSubscriptions } from '../views/webhooks.ts';
import {
  addCommand,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

type Options = ServiceOptions & { limit: number };

const mostShown = 10_000;

/** Reads up to `most` subscriptions, page by page. */
const readAll = async (
  client: Client,
  sessionId: string,
  most: number,
): Promise<SubscriptionList> => {
  const data: SubscriptionList['data'] = [];
  for (let offset = 0; ; ) {
    const limit = Math.min(limits.pageMax, most - data.length);
    const query = { offset, limit };
    const { body } = await client.send(listWebhooks, { params: { sessionId }, query });
    data.push(...body.data);
    const { next } = body.meta;
    if (next === undefined || data.length >= most) return { data, meta: body.meta };
    offset = next;
  }
};

export const addSessionWebhooks = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'webhooks <session>',
    summary:
      'list the webhook subscriptions of a session: URL, events, scope, number of deliveries so far',
    example: 'svc worlds session webhooks <session>',
  }).option(
    '--limit <number>',
    'maximum number of subscriptions',
    parseNumber({ min: 1, max: mostShown, whole: true }),
    1_000,
  );
  withService(command).action(async (sessionId: string, options: Options) => {
    const found = await readAll(clientFor(context, options), sessionId, options.limit);
    const { data, meta } = found;
    const more =
      data.length < meta.total ? [`${data.length} of ${meta.total}; see more with --limit`] : [];
    printAnswer(context, options, found, (view) =>
      [describeSubscriptions(data, view), ...more].join('\n'),
    );
  });
};
