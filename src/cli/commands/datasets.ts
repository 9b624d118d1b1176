/** `svc datasets`: datasets, their items and their runs. */
import { type Command, Option } from 'commander';
import {
  type DatasetBody,
  type DatasetItemBody,
  itemStates,
} from '#wire/public-api/evaluation/dataset.ts';
import * as api from '#wire/public-api/operations.ts';
import { parseItems, readMember } from '../files/dataset-items.ts';
import type { Context } from '../terminal/context.ts';
import {
  describeDataset,
  describeItem,
  listDatasets,
  listItems,
  listRunItems,
  listRuns,
} from '../views/dataset.ts';
import { usageError } from '../views/report.ts';
import {
  addCommand,
  addVersion,
  clientFor,
  given,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addDatasetRun, addRunSessions } from './dataset-run.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

const addList = (datasets: Command, context: Context): void => {
  addListCommand(datasets, context, {
    usage: 'list',
    summary: 'list the datasets of the project, newest first',
    example: 'svc datasets list --limit 20',
    operation: api.listDatasets,
    text: listDatasets,
  });
};

type CreateOptions = {
  description?: string;
  metadata?: string;
  inputSchema?: string;
  expectedOutputSchema?: string;
};

const addCreate = (datasets: Command, context: Context): void => {
  addRequestCommand(datasets, context, {
    usage: 'create <name>',
    summary: 'create a dataset, or change the one with this name',
    example: 'svc datasets create regression/billing --input-schema @input.json',
    options: (command) =>
      command
        .option('--description <text>', 'description of the dataset')
        .option('--metadata <json>', 'JSON, @file, or - for standard input')
        .option('--input-schema <json>', 'JSON Schema of inputs: JSON, @file, or -; {} removes it')
        .option(
          '--expected-output-schema <json>',
          'JSON Schema of expected outputs: JSON, @file, or -',
        ),
    operation: api.createDataset,
    input: async ([name], options: CreateOptions) => {
      const body: DatasetBody = {
        name,
        ...given('description', options.description),
        ...(await readMember(context, 'metadata', options.metadata)),
        ...(await readMember(context, 'inputSchema', options.inputSchema)),
        ...(await readMember(context, 'expectedOutputSchema', options.expectedOutputSchema)),
      };
      return { body };
    },
    text: describeDataset,
  });
};

const addShow = (datasets: Command, context: Context): void => {
  addRequestCommand(datasets, context, {
    usage: 'show <name>',
    summary: 'show a dataset',
    example: 'svc datasets show regression/billing --json',
    operation: api.getDataset,
    input: ([datasetName]) => ({ params: { datasetName } }),
    text: describeDataset,
  });
};

const addItemList = (items: Command, context: Context): void => {
  addListCommand(items, context, {
    usage: 'list [dataset]',
    summary: 'list active items, newest first; with a dataset also as of an earlier time',
    example: [
      'svc datasets items list regression/billing --version 2026-03-01T00:00:00Z',
      'svc datasets items list --source-trace <trace>',
    ].join('\n'),
    filters: {
      sourceTraceId: new Option('--source-trace <id>', 'only items made from this trace'),
      sourceObservationId: new Option(
        '--source-observation <id>',
        'only items made from this observation',
      ),
      status: new Option('--status <status>', 'only items with this status').choices([
        ...itemStates,
      ]),
    },
    options: (command) =>
      addVersion(command, { about: 'return the items as they were at this time', formerly: 'at' }),
    operation: api.listDatasetItems,
    input: ([dataset], { version }: { version?: string }) => ({
      query: { ...given('datasetName', dataset), ...given('version', version) },
    }),
    text: listItems,
  });
};

type AddOptions = ServiceOptions & {
  input?: string;
  expectedOutput?: string;
  metadata?: string;
  id?: string;
  file?: string;
  status?: DatasetItemBody['status'];
};

const addItemAdd = (items: Command, context: Context): void => {
  const command = addCommand(items, {
    usage: 'add <dataset>',
    summary: 'add an item, or many from a JSON Lines file; an existing id changes that item',
    example: [
      `svc datasets items add regression/billing --input '{"question": "…"}' --expected-output '"…"'`,
      'svc datasets items add regression/billing --file items.jsonl',
    ].join('\n'),
  })
    .option(
      '--file <file>',
      'one item a line: input, expectedOutput, metadata, id, …; - for standard input',
    )
    .option('--input <json>', 'JSON, @file, or - for standard input')
    .option('--expected-output <json>', 'JSON, @file, or - for standard input')
    .option('--metadata <json>', 'JSON, @file, or - for standard input')
    .option('--id <id>', 'id of the item (default: a new one)')
    .addOption(new Option('--status <status>', 'status of the item').choices([...itemStates]));
  withService(command).action(async (datasetName: string, options: AddOptions) => {
    const client = clientFor(context, options);
    if (options.file !== undefined) {
      if (options.input !== undefined) throw usageError('give --file or --input, not both');
      let count = 0;
      for (const item of await parseItems(context, options.file)) {
        await client.send(api.createDatasetItem, { body: { ...item, datasetName } });
        count += 1;
      }
      printAnswer(
        context,
        options,
        { count },
        () => `${count} items were written to ${datasetName}`,
      );
      return;
    }
    const body: DatasetItemBody = {
      datasetName,
      ...(await readMember(context, 'input', options.input)),
      ...(await readMember(context, 'expectedOutput', options.expectedOutput)),
      ...(await readMember(context, 'metadata', options.metadata)),
      ...given('id', options.id),
      ...given('status', options.status),
    };
    const answer = await client.send(api.createDatasetItem, { body });
    printAnswer(context, options, answer.body, () => describeItem(answer.body));
  });
};

const addItemRest = (items: Command, context: Context): void => {
  addRequestCommand(items, context, {
    usage: 'show <item>',
    summary: 'show the current state of an item',
    example: 'svc datasets items show q-17 --json',
    operation: api.getDatasetItem,
    input: ([datasetItemId]) => ({ params: { datasetItemId } }),
    text: describeItem,
  });
  addRequestCommand(items, context, {
    usage: 'delete <item>',
    summary: 'delete an item; its earlier versions can still be read with --version',
    example: 'svc datasets items delete q-17',
    operation: api.deleteDatasetItem,
    input: ([datasetItemId]) => ({ params: { datasetItemId } }),
    text: (_body, _view, [datasetItemId]) => `${datasetItemId} is deleted`,
  });
};

const addRuns = (datasets: Command, context: Context): void => {
  const runs = datasets.command('runs').description('runs over a dataset');
  addListCommand(runs, context, {
    usage: 'list <dataset>',
    summary: 'list the runs of a dataset, newest first',
    example: 'svc datasets runs list regression/billing',
    operation: api.listDatasetRuns,
    input: ([name]) => ({ params: { name } }),
    text: listRuns,
  });
  addListCommand(runs, context, {
    usage: 'show <dataset> <run>',
    summary: 'show the run items of a run, newest first',
    example: 'svc datasets runs show regression/billing nightly',
    operation: api.listDatasetRunItems,
    input: async ([datasetName, runName], _options, client) => {
      const dataset = await client().send(api.getDataset, { params: { datasetName } });
      return { query: { datasetId: dataset.body.id, runName } };
    },
    text: listRunItems,
  });
  addRequestCommand(runs, context, {
    usage: 'delete <dataset> <run>',
    summary: 'delete a run; its traces and scores are not deleted',
    example: 'svc datasets runs delete regression/billing nightly',
    operation: api.deleteDatasetRun,
    input: ([name, runName]) => ({ params: { name, runName } }),
    text: (_body, _view, [, runName]) => `the run ${runName} is deleted`,
  });
  addRunSessions(runs, context);
};

export const addDatasets = (program: Command, context: Context): void => {
  const datasets = program
    .command('datasets')
    .description('datasets, their items, and runs of agents on them');
  for (const add of [addList, addCreate, addShow]) add(datasets, context);
  const items = datasets.command('items').description('the items of datasets');
  for (const add of [addItemList, addItemAdd, addItemRest]) add(items, context);
  addRuns(datasets, context);
  addDatasetRun(datasets, context);
};
