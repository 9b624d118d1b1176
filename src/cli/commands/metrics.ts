/** `svc metrics`: queries metrics of traces, observations and scores. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isObject } from '#domain/json.ts';
import * as api from '#wire/public-api/operations.ts';
import { parseJson } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { listDays, listMetricRows } from '../views/metrics.ts';
import { usageError } from '../views/report.ts';
import { collect, given, parseNumber } from './command.ts';
import { addListCommand, addRequestCommand, repeatable } from './request-command.ts';
import { addTimes, fromOf, parseAgo, type TimeOptions } from './times.ts';

const views = [
  'traces',
  'observations',
  'scores-numeric',
  'scores-boolean',
  'scores-categorical',
  'user-events',
  'world-sessions',
];

type QueryOptions = TimeOptions & {
  by?: string[];
  every?: string;
  where?: Filter[];
  filter?: string;
  order?: string[];
  rows?: number;
  bins?: number;
};

type Filter = { type: string; column: string; operator: string; value: unknown };

/** Parses `column=value`. Several values of one column are alternatives. */
const collectWhere = (text: string, before: Filter[] = []): Filter[] => {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('The filter does not have the form column=value.');
  const [column, value] = [text.slice(0, at), text.slice(at + 1)];
  const known = before.find((filter) => filter.column === column);
  if (known !== undefined) {
    const values = [...(known.value as string[]), value];
    return before.map((filter) => (filter === known ? { ...known, value: values } : filter));
  }
  return [...before, { type: 'stringOptions', column, operator: 'any of', value: [value] }];
};

/** Parses `aggregation:measure`; `count` alone counts rows. */
const metricIn = (text: string): { measure: string; aggregation: string } => {
  if (text === 'count') return { measure: 'count', aggregation: 'count' };
  const [aggregation, measure, ...rest] = text.split(':');
  if (aggregation && measure && rest.length === 0) return { measure, aggregation };
  throw usageError(`"${text}" is not a metric: write aggregation:measure, such as sum:totalCost`);
};

const orderIn = (text: string): { field: string; direction: string } => {
  const [field = '', direction = 'desc'] = text.split('.');
  return { field, direction };
};

const filtersOf = ({ where = [], filter }: QueryOptions): unknown[] => {
  if (filter === undefined) return where;
  const more = parseJson(filter, '--filter');
  if (!Array.isArray(more) || !more.every(isObject)) {
    throw usageError('--filter is not a JSON list of objects');
  }
  return [...where, ...more];
};

const addQuery = (metrics: Command, context: Context): void => {
  addRequestCommand(metrics, context, {
    usage: 'query <view> <metric...>',
    summary: `query counts, sums and percentiles of a view: ${views.join(', ')}`,
    example: [
      'svc metrics query observations sum:totalCost count --by providedModelName --last 30d',
      'svc metrics query observations p95:latency --every day --where name=plan',
      'svc metrics query user-events sum:value --by event',
    ].join('\n'),
    options: (command) =>
      addTimes(
        command
          .option('--by <dimension>', 'what to group by; repeatable', collect)
          .addOption(
            new Option('--every <time>', 'group by time').choices([
              ...['auto', 'minute', 'hour', 'day', 'week', 'month'],
            ]),
          )
          .option(
            '--where <column=value>',
            'only rows with this value; several values of one column are alternatives',
            collectWhere,
          )
          .option('--filter <json>', 'filter conditions, in the JSON form of the REST API')
          .option(
            '--order <field.direction>',
            'sort order, such as sum_totalCost.desc; repeatable',
            collect,
          )
          .option(
            '--rows <number>',
            'maximum number of rows',
            parseNumber({ min: 1, max: 1_000, whole: true }),
          )
          .option(
            '--bins <number>',
            'number of bins of histograms',
            parseNumber({ min: 1, max: 100, whole: true }),
          ),
      ),
    operation: api.getMetrics,
    input: ([view, words], options: QueryOptions) => {
      const config = { ...given('row_limit', options.rows), ...given('bins', options.bins) };
      const question = {
        ...{ view, metrics: words.map(metricIn), filters: filtersOf(options), config },
        dimensions: (options.by ?? []).map((field) => ({ field })),
        ...(options.every === undefined ? {} : { timeDimension: { granularity: options.every } }),
        orderBy: (options.order ?? []).map(orderIn),
        fromTimestamp: fromOf(options) ?? parseAgo('7d'),
        toTimestamp: options.to ?? new Date().toISOString(),
      };
      return { query: { query: JSON.stringify(question) } };
    },
    text: (body, view) => listMetricRows(body.data, view),
  });
};

const addDaily = (metrics: Command, context: Context): void => {
  addListCommand(metrics, context, {
    usage: 'daily',
    summary: 'list traces, observations and cost by day, latest first',
    example: 'svc metrics daily --last 30d --environment production',
    filters: {
      traceName: new Option('--name <name>', 'only traces with this name'),
      userId: new Option('--user <id>', 'only traces of this user'),
      tags: repeatable(
        '--tag <tag>',
        'only traces with this tag; repeatable, a trace must have all of them',
      ),
      environment: repeatable(
        '--environment <name>',
        'only traces in this environment; repeatable',
      ),
    },
    times: ['fromTimestamp', 'toTimestamp'],
    operation: api.listDailyMetrics,
    text: listDays,
  });
};

export const addMetrics = (program: Command, context: Context): void => {
  const metrics = program
    .command('metrics')
    .description('metrics of traces, observations and scores');
  addQuery(metrics, context);
  addDaily(metrics, context);
};
