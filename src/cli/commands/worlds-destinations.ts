/** `svc worlds destinations`: sets where deliveries to a registered URL are posted instead. */
import type { Command } from 'commander';
import {
  listDestinations,
  removeDestination,
  setDestination,
} from '#wire/public-api/operations.ts';
import type { Context, View } from '../terminal/context.ts';
import { wrapLines } from '../terminal/print.ts';
import { formatFitted } from '../views/fitted-table.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';

const offText =
  'webhook push is off: nothing is posted until "svc projects settings set --webhook-push on"';

type Destination = { url: string; destination: string };

/** Formats destinations as a list, with a warning if webhook push is off. */
const textOf = (
  { shown, webhookPush, none }: { shown: Destination[]; webhookPush: boolean; none?: string },
  view: View,
): string => {
  const lines = shown.map(({ url, destination }) => [url, destination]);
  const table = formatFitted(['REGISTERED', 'POSTED TO'], lines, view, none ? { none } : {});
  return [table, ...(webhookPush ? [] : wrapLines(offText, view.room))].join('\n');
};

const addList = (destinations: Command, context: Context): void => {
  const command = addCommand(destinations, {
    usage: 'list <world>',
    summary: 'list the webhook destinations of a world',
    example: 'svc worlds destinations list crm',
  });
  withService(command).action(async (slug: string, options: ServiceOptions) => {
    const { body } = await clientFor(context, options).send(listDestinations, { params: { slug } });
    const none = `${slug} has no webhook destinations`;
    const { webhookPush } = body.meta;
    printAnswer(context, options, body, (view) =>
      textOf({ shown: body.data, webhookPush, none }, view),
    );
  });
};

const addSet = (destinations: Command, context: Context): void => {
  const command = addCommand(destinations, {
    usage: 'set <world> <url> <destination>',
    summary: 'post deliveries to a registered URL elsewhere, in all sessions of a world',
    example:
      'svc worlds destinations set crm https://app.example.com/hook https://staging.example.com/hook',
  });
  withService(command).action(
    async (slug: string, url: string, destination: string, options: ServiceOptions) => {
      const client = clientFor(context, options);
      const input = { params: { slug }, body: { url, destination } };
      const { body } = await client.send(setDestination, input);
      const { webhookPush } = body;
      printAnswer(context, options, body, (view) =>
        textOf({ shown: [{ url, destination }], webhookPush }, view),
      );
    },
  );
};

const addRemove = (destinations: Command, context: Context): void => {
  const command = addCommand(destinations, {
    usage: 'remove <world> <url>',
    summary: 'post deliveries to a registered URL there again',
    example: 'svc worlds destinations remove crm https://app.example.com/hook',
  });
  withService(command).action(async (slug: string, url: string, options: ServiceOptions) => {
    const client = clientFor(context, options);
    const { body } = await client.send(removeDestination, { params: { slug }, query: { url } });
    printAnswer(context, options, body, () => `deliveries to ${url} go there again`);
  });
};

export const addWorldsDestinations = (worlds: Command, context: Context): void => {
  const destinations = worlds
    .command('destinations')
    .description('where deliveries to a registered webhook URL are posted instead');
  addList(destinations, context);
  addSet(destinations, context);
  addRemove(destinations, context);
};
