/** `svc worlds destinations`: sets URLs to which deliveries are posted instead of the registered URLs. */
import type { Command } from 'commander';
import {
  listDestinations,
  removeDestination,
  setDestination,
} from '#wire/public-api/operations.ts';
import type { Context, View } from '../terminal/context.ts';
import { wrapLines } from '../terminal/print.ts';
import { formatFitted } from '../views/fitted-table.ts';
import { addRequestCommand } from './request-command.ts';

const offText =
  'webhook push is off: the service posts nothing until "svc projects settings set --webhook-push on"';

type Destination = { url: string; destination: string };

/** Formats destinations as a list, with a warning if webhook push is off. */
const textOf = (
  { shown, webhookPush, none }: { shown: Destination[]; webhookPush: boolean; none?: string },
  view: View,
): string => {
  const lines = shown.map(({ url, destination }) => [url, destination]);
  const table = formatFitted(['REGISTERED', 'POSTED TO'], lines, view, none ? { none } : {});
  return [table, ...(webhookPush ? [] : wrapLines(offText, view.columns))].join('\n');
};

const addList = (destinations: Command, context: Context): void => {
  addRequestCommand(destinations, context, {
    usage: 'list <world>',
    summary: 'list the webhook destinations of a world',
    example: 'svc worlds destinations list crm',
    operation: listDestinations,
    input: ([slug]) => ({ params: { slug } }),
    text: ({ data, meta }, view, [slug]) => {
      const none = `${slug} has no webhook destinations`;
      return textOf({ shown: data, webhookPush: meta.webhookPush, none }, view);
    },
  });
};

const addSet = (destinations: Command, context: Context): void => {
  addRequestCommand(destinations, context, {
    usage: 'set <world> <url> <destination>',
    summary: 'post deliveries for a registered URL to another URL, in all sessions of a world',
    example:
      'svc worlds destinations set crm https://app.example.com/hook https://staging.example.com/hook',
    operation: setDestination,
    input: ([slug, url, destination]) => ({ params: { slug }, body: { url, destination } }),
    text: ({ webhookPush }, view, [, url, destination]) =>
      textOf({ shown: [{ url, destination }], webhookPush }, view),
  });
};

const addRemove = (destinations: Command, context: Context): void => {
  addRequestCommand(destinations, context, {
    usage: 'remove <world> <url>',
    summary: 'post deliveries for a registered URL to that URL again',
    example: 'svc worlds destinations remove crm https://app.example.com/hook',
    operation: removeDestination,
    input: ([slug, url]) => ({ params: { slug }, query: { url } }),
    text: (_body, _view, [, url]) => `deliveries for ${url} are posted to that URL again`,
  });
};

export const addWorldsDestinations = (worlds: Command, context: Context): void => {
  const destinations = worlds
    .command('destinations')
    .description('URLs that receive webhook deliveries instead of the registered ones');
  addList(destinations, context);
  addSet(destinations, context);
  addRemove(destinations, context);
};
