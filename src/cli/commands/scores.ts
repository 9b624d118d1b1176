/** `svc scores`: scores of traces and observations, and the score configs that they must match. */
import { type Command, Option } from 'commander';
import * as api from '#wire/public-api/operations.ts';
import { readMember } from '../files/dataset-items.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../views/report.ts';
import { describeConfig, describeScore, listConfigs, listScores } from '../views/score.ts';
import { collect, given, parseNumber } from './command.ts';
import { addListCommand, addRequestCommand, repeatable } from './request-command.ts';

const scoreDataTypes = ['NUMERIC', 'CATEGORICAL', 'BOOLEAN', 'TEXT'];

const addList = (scores: Command, context: Context): void => {
  addListCommand(scores, context, {
    usage: 'list',
    summary: 'list scores of traces, sessions and dataset runs, latest first',
    example: 'svc scores list --name helpful --last 7d\nsvc scores list --trace 5f1c…',
    operation: api.listAllScores,
    filters: {
      name: new Option('--name <name>', 'only scores with this name'),
      traceId: new Option('--trace <id>', 'only scores of this trace'),
      sessionId: new Option('--session <id>', 'only scores of this trace session'),
      datasetRunId: new Option('--dataset-run <id>', 'only scores of this dataset run'),
      userId: new Option('--user <id>', 'only scores of traces of this user'),
      source: new Option(
        '--source <source>',
        'only scores from this source: API, EVAL or ANNOTATION',
      ),
      dataType: new Option('--type <type>', 'only scores of this data type').choices(
        scoreDataTypes,
      ),
      configId: new Option('--config <id>', 'only scores with this score config'),
      queueId: new Option('--queue <id>', 'only scores from this annotation queue'),
      environment: repeatable(
        '--environment <name>',
        'only scores in this environment; repeatable',
      ),
      filter: new Option('--filter <json>', 'filter conditions, in the JSON form of the REST API'),
    },
    times: ['fromTimestamp', 'toTimestamp'],
    text: listScores,
  });
};

type AddOptions = {
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

/** Parses the text as a number if it is one. For the types CATEGORICAL and TEXT, returns the text. */
const valueIn = (text: string, type: string | undefined): number | string => {
  const number = Number(text);
  const isNumber = text.trim() !== '' && Number.isFinite(number);
  return isNumber && type !== 'CATEGORICAL' && type !== 'TEXT' ? number : text;
};

const addAdd = (scores: Command, context: Context): void => {
  addRequestCommand(scores, context, {
    usage: 'add <name> <value>',
    summary: 'score a trace, an observation in it, a session or a dataset run',
    example: 'svc scores add helpful 0.8 --trace 5f1c… --comment "to the point"',
    options: (command) =>
      command
        .option('--trace <id>', 'the trace')
        .option('--observation <id>', 'id of the observation in the trace')
        .option('--session <id>', 'id of the trace session')
        .option('--dataset-run <id>', 'id of the dataset run')
        .addOption(new Option('--type <type>', 'type of the value').choices(scoreDataTypes))
        .option('--comment <text>', 'reason for the score')
        .option('--config <id>', 'id of the score config that the value must match')
        .option('--metadata <json>', 'JSON, @file, or - for standard input')
        .option('--id <id>', 'id of the score; an existing score with this id is replaced'),
    operation: api.createScore,
    input: async ([name, value], options: AddOptions) => {
      const subjects = [options.trace, options.session, options.datasetRun];
      if (subjects.filter((one) => one !== undefined).length !== 1) {
        throw usageError('name one object with --trace, --session or --dataset-run');
      }
      const body = {
        ...{ name, value: valueIn(value, options.type) },
        ...given('traceId', options.trace),
        ...given('observationId', options.observation),
        ...given('sessionId', options.session),
        ...given('datasetRunId', options.datasetRun),
        ...given('dataType', options.type),
        ...given('comment', options.comment),
        ...given('configId', options.config),
        ...(await readMember(context, 'metadata', options.metadata)),
        ...given('id', options.id),
      };
      return { body };
    },
    text: (body) => `the score ${body.id} was created`,
  });
};

const addRest = (scores: Command, context: Context): void => {
  addRequestCommand(scores, context, {
    usage: 'show <score>',
    summary: 'show a score',
    example: 'svc scores show 8c1d…',
    operation: api.getAnyScore,
    input: ([scoreId]) => ({ params: { scoreId } }),
    text: describeScore,
  });
  addRequestCommand(scores, context, {
    usage: 'delete <score>',
    summary: 'delete a score',
    example: 'svc scores delete 8c1d…',
    operation: api.deleteScore,
    input: ([scoreId]) => ({ params: { scoreId } }),
    text: (_body, _view, [scoreId]) => `${scoreId} is deleted`,
  });
};

type ConfigOptions = {
  type: string;
  min?: number;
  max?: number;
  category?: string[];
  description?: string;
};

const parseBound = parseNumber({ min: -1e15, max: 1e15 });

/** Parses categories of the form `label=value`. Categories without a value are numbered from 0. */
const categoriesIn = (texts: readonly string[] | undefined) =>
  texts?.map((text, index) => {
    const at = text.lastIndexOf('=');
    return at < 0
      ? { label: text, value: index }
      : { label: text.slice(0, at), value: Number(text.slice(at + 1)) };
  });

const addConfigs = (scores: Command, context: Context): void => {
  const configs = scores
    .command('configs')
    .description('score configs: the values that scores of one name may have');
  addListCommand(configs, context, {
    usage: 'list',
    summary: 'list score configs, newest first',
    example: 'svc scores configs list',
    operation: api.listScoreConfigs,
    text: listConfigs,
  });
  addRequestCommand(configs, context, {
    usage: 'show <config>',
    summary: 'show a score config',
    example: 'svc scores configs show scc-…',
    operation: api.getScoreConfig,
    input: ([configId]) => ({ params: { configId } }),
    text: describeConfig,
  });
  addRequestCommand(configs, context, {
    usage: 'create <name>',
    summary: 'create a score config',
    example: [
      'svc scores configs create helpful --type NUMERIC --min 0 --max 1',
      'svc scores configs create tone --type CATEGORICAL --category good=1 --category bad=0',
    ].join('\n'),
    options: (command) =>
      command
        .addOption(
          new Option('--type <type>', 'type of the values')
            .choices(scoreDataTypes)
            .makeOptionMandatory(),
        )
        .option('--min <number>', 'minimum of the value', parseBound)
        .option('--max <number>', 'maximum of the value', parseBound)
        .option(
          '--category <label=value>',
          'a category, as label=value or label; repeatable',
          collect,
        )
        .option('--description <text>', 'description of the score config'),
    operation: api.createScoreConfig,
    input: ([name], options: ConfigOptions) => ({
      body: {
        ...{ name, dataType: options.type },
        ...given('minValue', options.min),
        ...given('maxValue', options.max),
        ...given('categories', categoriesIn(options.category)),
        ...given('description', options.description),
      },
    }),
    text: describeConfig,
  });
  for (const [word, isArchived, summary] of [
    ['archive', true, 'archive a score config: new scores cannot use it'],
    ['restore', false, 'restore a score config: new scores can use it again'],
  ] as const) {
    addRequestCommand(configs, context, {
      usage: `${word} <config>`,
      summary,
      example: `svc scores configs ${word} scc-…`,
      operation: api.updateScoreConfig,
      input: ([configId]) => ({ params: { configId }, body: { isArchived } }),
      text: describeConfig,
    });
  }
};

export const addScores = (program: Command, context: Context): void => {
  const scores = program
    .command('scores')
    .description('scores of traces, sessions and dataset runs');
  for (const add of [addList, addAdd, addRest, addConfigs]) add(scores, context);
};
