/** `svc worlds requests`: what all sessions of a world were asked, those that are over included. */
import type { Command } from 'commander';
import { listWorldRequests } from '#wire/public-api/operations.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { addPaging, moreText, type PagingOptions } from '../paging.ts';
import { addRequestFilters, filterOf, type RequestOptions } from '../requests.ts';
import { describeRequests } from '../views/request.ts';

type Options = ServiceOptions & PagingOptions & RequestOptions & { after?: string };

export const addWorldsRequests = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'requests <world>',
    summary: 'the requests to all sessions of a world, newest first',
    example: 'svc worlds requests code-hosting --via webhook --after 2026-03-01',
  }).option('--after <time>', 'only requests after this time, ISO 8601');
  withService(addPaging(addRequestFilters(command))).action(
    async (slug: string, { page, limit, after, ...options }: Options) => {
      const query = {
        ...filterOf(options),
        ...(after === undefined ? {} : { after }),
        page,
        limit,
      };
      const client = clientFor(context, options);
      const { body } = await client.send(listWorldRequests, { params: { slug }, query });
      printAnswer(context, options, body, () =>
        [describeRequests(body.data, context.colors), ...moreText(body.meta)].join('\n'),
      );
    },
  );
};
