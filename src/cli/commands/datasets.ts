/** `svc datasets`: datasets, their items and their runs. */
import { type Command, Option } from 'commander';
import { type DatasetItemBody, itemStates } from '#wire/public-api/evaluation/dataset.ts';
import * as api from '#wire/public-api/operations.ts';
import { parseItems, readJson } from '../files/dataset-items.ts';
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
  addPaging,
  addVersion,
  clientFor,
  given,
  type PagingOptions,
  pageOf,
  printAnswer,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addDatasetRun, addRunSessions } from './dataset-run.ts';

const addList = (datasets: Command, context: Context): void => {
  const command = addCommand(datasets, {
    usage: 'list',
    summary: 'the datasets of the project, newest first',
    example: 'svc datasets list --limit 20',
  });
  withService(addPaging(command)).action(async (options: ServiceOptions & PagingOptions) => {
    const query = pageOf(options);
    const { body } = await clientFor(context, options).send(api.listDatasets, { query });
    printPage(context, options, body, listDatasets);
  });
};

type CreateOptions = ServiceOptions & {
  description?: string;
  metadata?: string;
  inputSchema?: string;
  expectedOutputSchema?: string;
};

const addCreate = (datasets: Command, context: Context): void => {
  const command = addCommand(datasets, {
    usage: 'create <name>',
    summary: 'make a dataset, or change the one of this name',
    example: 'svc datasets create regression/billing --input-schema @input.json',
  })
    .option('--description <text>', 'what it is for')
    .option('--metadata <json>', 'JSON, @file, or - for standard input')
    .option('--input-schema <json>', 'JSON Schema that inputs fit, likewise; {} takes it away')
    .option('--expected-output-schema <json>', 'the same of expected outputs');
  withService(command).action(async (name: string, options: CreateOptions) => {
    const read = async (member: string, text: string | undefined) =>
      text === undefined ? {} : { [member]: await readJson(context, text, `--${member}`) };
    const body = {
      name,
      ...given('description', options.description),
      ...(await read('metadata', options.metadata)),
      ...(await read('inputSchema', options.inputSchema)),
      ...(await read('expectedOutputSchema', options.expectedOutputSchema)),
    };
    const answer = await clientFor(context, options).send(api.createDataset, { body });
    printAnswer(context, options, answer.body, () => describeDataset(answer.body));
  });
};

const addShow = (datasets: Command, context: Context): void => {
  const command = addCommand(datasets, {
    usage: 'show <name>',
    summary: 'one dataset',
    example: 'svc datasets show regression/billing --json',
  });
  withService(command).action(async (datasetName: string, options: ServiceOptions) => {
    const params = { datasetName };
    const { body } = await clientFor(context, options).send(api.getDataset, { params });
    printAnswer(context, options, body, () => describeDataset(body));
  });
};

type ItemsOptions = ServiceOptions &
  PagingOptions & {
    version?: string;
    sourceTrace?: string;
    sourceObservation?: string;
    status?: string;
  };

const addItemList = (items: Command, context: Context): void => {
  const command = addCommand(items, {
    usage: 'list [dataset]',
    summary: 'active items, newest first; of a dataset also as they were at a time',
    example: [
      'svc datasets items list regression/billing --version 2026-03-01T00:00:00Z',
      'svc datasets items list --source-trace <trace>',
    ].join('\n'),
  })
    .option('--source-trace <id>', 'only items made from this trace')
    .option('--source-observation <id>', 'only items made from this observation')
    .addOption(new Option('--status <status>', 'only these').choices([...itemStates]));
  addVersion(command, { about: 'as they were at this time', formerly: 'at' });
  withService(addPaging(command)).action(
    async (dataset: string | undefined, options: ItemsOptions) => {
      const query = {
        ...pageOf(options),
        ...given('datasetName', dataset),
        ...given('version', options.version),
        ...given('sourceTraceId', options.sourceTrace),
        ...given('sourceObservationId', options.sourceObservation),
        ...given('status', options.status),
      };
      const { body } = await clientFor(context, options).send(api.listDatasetItems, { query });
      printPage(context, options, body, listItems);
    },
  );
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
    summary: 'add an item, or many from a file of JSON lines; one with a known id is changed',
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
    .option('--expected-output <json>', 'likewise')
    .option('--metadata <json>', 'likewise')
    .option('--id <id>', 'its id; without one it gets one')
    .addOption(new Option('--status <status>', 'its status').choices([...itemStates]));
  withService(command).action(async (datasetName: string, options: AddOptions) => {
    const client = clientFor(context, options);
    if (options.file !== undefined) {
      if (options.input !== undefined) throw usageError('give --file or --input, not both');
      let count = 0;
      for (const item of await parseItems(context, options.file)) {
        await client.send(api.createDatasetItem, { body: { ...item, datasetName } });
        count += 1;
      }
      printAnswer(context, options, { count }, () => `${count} items are in ${datasetName}`);
      return;
    }
    const read = async (member: string, text: string | undefined) =>
      text === undefined ? {} : { [member]: await readJson(context, text, `--${member}`) };
    const body: DatasetItemBody = {
      datasetName,
      ...(await read('input', options.input)),
      ...(await read('expectedOutput', options.expectedOutput)),
      ...(await read('metadata', options.metadata)),
      ...(options.id === undefined ? {} : { id: options.id }),
      ...(options.status === undefined ? {} : { status: options.status }),
    };
    const answer = await client.send(api.createDatasetItem, { body });
    printAnswer(context, options, answer.body, () => describeItem(answer.body));
  });
};

const addItemRest = (items: Command, context: Context): void => {
  const show = addCommand(items, {
    usage: 'show <item>',
    summary: 'one item as it is now',
    example: 'svc datasets items show q-17 --json',
  });
  withService(show).action(async (datasetItemId: string, options: ServiceOptions) => {
    const params = { datasetItemId };
    const { body } = await clientFor(context, options).send(api.getDatasetItem, { params });
    printAnswer(context, options, body, () => describeItem(body));
  });
  const remove = addCommand(items, {
    usage: 'delete <item>',
    summary: 'delete an item; versions of before stay readable by their time',
    example: 'svc datasets items delete q-17',
  });
  withService(remove).action(async (datasetItemId: string, options: ServiceOptions) => {
    const params = { datasetItemId };
    const { body } = await clientFor(context, options).send(api.deleteDatasetItem, { params });
    printAnswer(context, options, body, () => `${datasetItemId} is deleted`);
  });
};

const addRuns = (datasets: Command, context: Context): void => {
  const runs = datasets.command('runs').description('runs over a dataset');
  const list = addCommand(runs, {
    usage: 'list <dataset>',
    summary: 'the runs of a dataset, newest first',
    example: 'svc datasets runs list regression/billing',
  });
  withService(addPaging(list)).action(
    async (name: string, options: ServiceOptions & PagingOptions) => {
      const input = { params: { name }, query: pageOf(options) };
      const { body } = await clientFor(context, options).send(api.listDatasetRuns, input);
      printPage(context, options, body, listRuns);
    },
  );
  const show = addCommand(runs, {
    usage: 'show <dataset> <run>',
    summary: 'what a run has of each item, newest first',
    example: 'svc datasets runs show regression/billing nightly',
  });
  withService(addPaging(show)).action(
    async (datasetName: string, runName: string, options: ServiceOptions & PagingOptions) => {
      const client = clientFor(context, options);
      const dataset = (await client.send(api.getDataset, { params: { datasetName } })).body;
      const query = { ...pageOf(options), datasetId: dataset.id, runName };
      const { body } = await client.send(api.listDatasetRunItems, { query });
      printPage(context, options, body, listRunItems);
    },
  );
  const remove = addCommand(runs, {
    usage: 'delete <dataset> <run>',
    summary: 'delete a run; traces and scores stay',
    example: 'svc datasets runs delete regression/billing nightly',
  });
  withService(remove).action(async (name: string, runName: string, options: ServiceOptions) => {
    const params = { name, runName };
    const { body } = await clientFor(context, options).send(api.deleteDatasetRun, { params });
    printAnswer(context, options, body, () => `the run ${runName} is deleted`);
  });
  addRunSessions(runs, context);
};

export const addDatasets = (program: Command, context: Context): void => {
  const datasets = program.command('datasets').description('examples, and runs of agents on them');
  for (const add of [addList, addCreate, addShow]) add(datasets, context);
  const items = datasets.command('items').description('the items of datasets');
  for (const add of [addItemList, addItemAdd, addItemRest]) add(items, context);
  addRuns(datasets, context);
  addDatasetRun(datasets, context);
};
