/** `svc worlds data`: the group of commands about rows of worlds, including those that list and publish batches. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { cancelBatch, getBatch, listBatches, publishData } from '#wire/public-api/operations.ts';
import { replaceFile } from '../files/write-tree.ts';
import { readReport } from '../service/signed-address.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { describeBatch, describeImport, listBatchesText } from '../views/data.ts';
import {
  addCommand,
  clientFor,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addDataExtract } from './data-extract.ts';
import { addDataImport } from './data-import.ts';
import { addDataQuery, addDataShow } from './data-query.ts';
import { addRequestCommand } from './request-command.ts';

type BatchesOptions = ServiceOptions & { limit?: number; cursor?: string; report?: string };

const addDataBatches = (data: Command, context: Context): void => {
  const command = addCommand(data, {
    usage: 'batches <world> [batch]',
    summary: 'list the batches of rows of a world, newest first, or show one with its refused rows',
    example:
      'svc worlds data batches crm\nsvc worlds data batches crm bat-… --report refused.jsonl',
  })
    .option(
      '--limit <number>',
      'maximum number of batches',
      parseNumber({ min: 1, max: 100, whole: true }),
    )
    .option('--cursor <text>', 'the cursor that the previous page printed')
    .option('--report <file>', 'write all refused rows of the batch into a file, as JSONL');
  withService(command).action(
    async (slug: string, batchId: string | undefined, options: BatchesOptions) => {
      const client = clientFor(context, options);
      if (batchId === undefined) {
        const { limit, cursor } = options;
        const query = { ...given('limit', limit), ...given('cursor', cursor) };
        const { body } = await client.send(listBatches, { params: { slug }, query });
        printAnswer(context, options, body, (view) => listBatchesText(body.data, view));
        return;
      }
      const { body } = await client.send(getBatch, { params: { slug, batchId } });
      if (options.report !== undefined && body.reportUrl !== null) {
        replaceFile(resolve(context.cwd, options.report), await readReport(client, body.reportUrl));
      }
      printAnswer(context, options, body, () => describeBatch(body));
    },
  );
};

const addDataCancel = (data: Command, context: Context): void => {
  addRequestCommand(data, context, {
    usage: 'cancel <world> <batch>',
    summary: 'cancel a batch: none of its rows are imported',
    example: 'svc worlds data cancel crm bat-…',
    operation: cancelBatch,
    input: ([slug, batchId]) => ({ params: { slug, batchId } }),
    text: (_body, _view, [, batchId]) => `batch ${batchId} is cancelled`,
  });
};

const addDataPublish = (data: Command, context: Context): void => {
  const command = addCommand(data, {
    usage: 'publish <world>',
    summary:
      'publish all batches that were imported with "--publish later", together as one version',
    example: 'svc worlds data publish crm -m "customers of May"',
  }).option('-m, --message <text>', 'reason recorded on the version');
  withService(command).action(
    async (slug: string, { message, ...options }: ServiceOptions & { message?: string }) => {
      const client = clientFor(context, options);
      const body = message === undefined ? {} : { message };
      const answer = await client.send(publishData, { params: { slug }, body });
      printAnswer(context, options, answer.body, () => {
        if (answer.status === 202) {
          return `still publishing: "svc worlds data batches ${slug} ${answer.body.batchId}" shows the progress`;
        }
        const { version, batches } = answer.body;
        const made = describeImport({ slug, version, landed: null, refused: 0 });
        return `${made}\nof ${formatCount(batches.length, 'batch', 'batches')}`;
      });
    },
  );
};

export const addData = (worlds: Command, context: Context): void => {
  const data = worlds.command('data').description('import, query and extract the rows of worlds');
  addDataShow(data, context);
  addDataQuery(data, context);
  addDataExtract(data, context);
  addDataImport(data, context);
  addDataPublish(data, context);
  addDataBatches(data, context);
  addDataCancel(data, context);
};
