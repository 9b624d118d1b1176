/** `svc scores`: scores of traces and observations, and the score configs that they must match. */
import { type Command, Option } from 'commander';
import * as api from '#wire/public-api/operations.ts';
import { readJson } from '../files/dataset-items.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { describeConfig, describeScore, listConfigs, listScores } from '../views/score.ts';
import {
  addCommand,
  addPaging,
  clientFor,
  collect,
  given,
  type PagingOptions,
  pageOf,
  parseNumber,
  printAnswer,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addTimes, fromOf, type TimeOptions } from './traces.ts';

const scoreDataTypes = ['NUMERIC', 'CATEGORICAL', 'BOOLEAN', 'TEXT'];

type ListOptions = ServiceOptions &
  PagingOptions &
  TimeOptions & {
    name?: string;
    trace?: string;
    session?: string;
    datasetRun?: string;
    user?: string;
    source?: string;
    type?: string;
    config?: string;
    queue?: string;
    environment?: string[];
    filter?: string;
  };

const addList = (scores: Command, context: Context): void => {
  const list = addCommand(scores, {
    usage: 'list',
    summary: 'scores of traces, sessions and runs of datasets, latest first',
    example: 'svc scores list --name helpful --last 7d\nsvc scores list --trace 5f1c…',
  })
    .option('--name <name>', 'only of this name')
    .option('--trace <id>', 'only those of this trace')
    .option('--session <id>', 'only those of this session')
    .option('--dataset-run <id>', 'only those of this run')
    .option('--user <id>', "only those of this user's traces")
    .option('--source <source>', 'only from there: API, EVAL or ANNOTATION')
    .addOption(new Option('--type <type>', 'only of this type').choices(scoreDataTypes))
    .option('--config <id>', 'only those held to this config')
    .option('--queue <id>', 'only those of this annotation queue')
    .option('--environment <name>', 'only of this environment; repeatable', collect)
    .option('--filter <json>', 'conditions as the REST API has them');
  withService(addTimes(addPaging(list))).action(async (options: ListOptions) => {
    const query = {
      ...pageOf(options),
      ...given('name', options.name),
      ...given('traceId', options.trace),
      ...given('sessionId', options.session),
      ...given('datasetRunId', options.datasetRun),
      ...given('userId', options.user),
      ...given('source', options.source),
      ...given('dataType', options.type),
      ...given('configId', options.config),
      ...given('queueId', options.queue),
      ...given('environment', options.environment),
      ...given('filter', options.filter),
      ...given('fromTimestamp', fromOf(options)),
      ...given('toTimestamp', options.to),
    };
    const { body } = await clientFor(context, options).send(api.listAllScores, { query });
    printPage(context, options, body, listScores);
  });
};

type AddOptions = ServiceOptions & {
  trace?: string;
  observation?: string;
  session?: string;
  datasetRun?: string;
  type?: string;
  comment?: string;
  config?: string;
  metadata?: string;
  id?: string;
};

/** Parses the text as a number if it is one, except for the types CATEGORICAL and TEXT. */
const valueIn = (text: string, type: string | undefined): number | string => {
  const number = Number(text);
  const isNumber = text.trim() !== '' && Number.isFinite(number);
  return isNumber && type !== 'CATEGORICAL' && type !== 'TEXT' ? number : text;
};

const addAdd = (scores: Command, context: Context): void => {
  const command = addCommand(scores, {
    usage: 'add <name> <value>',
    summary: 'score a trace, an observation in it, a session or a run of a dataset',
    example: 'svc scores add helpful 0.8 --trace 5f1c… --comment "to the point"',
  })
    .option('--trace <id>', 'the trace')
    .option('--observation <id>', 'the observation in it')
    .option('--session <id>', 'the session')
    .option('--dataset-run <id>', 'the run of a dataset')
    .addOption(new Option('--type <type>', 'of the value').choices(scoreDataTypes))
    .option('--comment <text>', 'why')
    .option('--config <id>', 'what it is held to')
    .option('--metadata <json>', 'JSON, @file, or - for standard input')
    .option('--id <id>', 'its id; the score of a known id is replaced');
  withService(command).action(async (name: string, value: string, options: AddOptions) => {
    const subjects = [options.trace, options.session, options.datasetRun];
    if (subjects.filter((one) => one !== undefined).length !== 1) {
      throw usageError('give one of --trace, --session and --dataset-run');
    }
    const metadata =
      options.metadata === undefined
        ? undefined
        : await readJson(context, options.metadata, '--metadata');
    const body = {
      ...{ name, value: valueIn(value, options.type) },
      ...given('traceId', options.trace),
      ...given('observationId', options.observation),
      ...given('sessionId', options.session),
      ...given('datasetRunId', options.datasetRun),
      ...given('dataType', options.type),
      ...given('comment', options.comment),
      ...given('configId', options.config),
      ...given('metadata', metadata),
      ...given('id', options.id),
    };
    const answer = await clientFor(context, options).send(api.createScore, { body });
    printAnswer(context, options, answer.body, () => `the score ${answer.body.id} is there`);
  });
};

const addRest = (scores: Command, context: Context): void => {
  const show = addCommand(scores, {
    usage: 'show <score>',
    summary: 'one score',
    example: 'svc scores show 8c1d…',
  });
  withService(show).action(async (scoreId: string, options: ServiceOptions) => {
    const params = { scoreId };
    const { body } = await clientFor(context, options).send(api.getAnyScore, { params });
    printAnswer(context, options, body, () => describeScore(body));
  });
  const remove = addCommand(scores, {
    usage: 'delete <score>',
    summary: 'delete a score',
    example: 'svc scores delete 8c1d…',
  });
  withService(remove).action(async (scoreId: string, options: ServiceOptions) => {
    const params = { scoreId };
    const { body } = await clientFor(context, options).send(api.deleteScore, { params });
    printAnswer(context, options, body, () => `${scoreId} is deleted`);
  });
};

type ConfigOptions = ServiceOptions & {
  type: string;
  min?: number;
  max?: number;
  category?: string[];
  description?: string;
};

const parseBound = parseNumber({ min: -1e15, max: 1e15 });

/** Parses categories as `label=value`. Those without a value are numbered from 0. */
const categoriesIn = (texts: readonly string[] | undefined) =>
  texts?.map((text, index) => {
    const at = text.lastIndexOf('=');
    return at < 0
      ? { label: text, value: index }
      : { label: text.slice(0, at), value: Number(text.slice(at + 1)) };
  });

const addConfigs = (scores: Command, context: Context): void => {
  const configs = scores.command('configs').description('what scores of a name are held to');
  const list = addCommand(configs, {
    usage: 'list',
    summary: 'score configs, newest first',
    example: 'svc scores configs list',
  });
  withService(addPaging(list)).action(async (options: ServiceOptions & PagingOptions) => {
    const query = pageOf(options);
    const { body } = await clientFor(context, options).send(api.listScoreConfigs, { query });
    printPage(context, options, body, listConfigs);
  });
  const show = addCommand(configs, {
    usage: 'show <config>',
    summary: 'one score config',
    example: 'svc scores configs show scc-…',
  });
  withService(show).action(async (configId: string, options: ServiceOptions) => {
    const params = { configId };
    const { body } = await clientFor(context, options).send(api.getScoreConfig, { params });
    printAnswer(context, options, body, () => describeConfig(body));
  });
  const create = addCommand(configs, {
    usage: 'create <name>',
    summary: 'make a score config',
    example: [
      'svc scores configs create helpful --type NUMERIC --min 0 --max 1',
      'svc scores configs create tone --type CATEGORICAL --category good=1 --category bad=0',
    ].join('\n'),
  })
    .addOption(
      new Option('--type <type>', 'of the values').choices(scoreDataTypes).makeOptionMandatory(),
    )
    .option('--min <number>', 'the least value', parseBound)
    .option('--max <number>', 'the greatest value', parseBound)
    .option('--category <label=value>', 'a category; repeatable', collect)
    .option('--description <text>', 'what it is for');
  withService(create).action(async (name: string, options: ConfigOptions) => {
    const body = {
      ...{ name, dataType: options.type },
      ...given('minValue', options.min),
      ...given('maxValue', options.max),
      ...given('categories', categoriesIn(options.category)),
      ...given('description', options.description),
    };
    const answer = await clientFor(context, options).send(api.createScoreConfig, { body });
    printAnswer(context, options, answer.body, () => describeConfig(answer.body));
  });
  for (const [word, isArchived, summary] of [
    ['archive', true, 'take no more scores by it'],
    ['restore', false, 'take scores by it again'],
  ] as const) {
    const change = addCommand(configs, {
      usage: `${word} <config>`,
      summary,
      example: `svc scores configs ${word} scc-…`,
    });
    withService(change).action(async (configId: string, options: ServiceOptions) => {
      const input = { params: { configId }, body: { isArchived } };
      const { body } = await clientFor(context, options).send(api.updateScoreConfig, input);
      printAnswer(context, options, body, () => describeConfig(body));
    });
  }
};

export const addScores = (program: Command, context: Context): void => {
  const scores = program.command('scores').description('how what agents did was judged');
  for (const add of [addList, addAdd, addRest, addConfigs]) add(scores, context);
};
