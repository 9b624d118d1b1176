/** `svc traces` and `svc observations`: traces of agents, and their observations. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { own } from '#domain/json.ts';
import { levels, observationTypes } from '#observability/object.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Context } from '../terminal/context.ts';
import {
  describeObservation,
  describeTrace,
  describeTraceSession,
  listObservations,
  listTraceSessions,
  listTraces,
} from '../views/trace.ts';
import {
  addCommand,
  addPaging,
  addVersion,
  clientFor,
  collect,
  given,
  type PagingOptions,
  pageOf,
  printAnswer,
  printPage,
  type ServiceOptions,
  withService,
} from './command.ts';

const unitMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses an age such as `30m`, `12h`, `7d`, `4w`. Returns the time in the past. */
export const parseAgo = (text: string): string => {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const ms = own(unitMs, unit);
  if (count !== undefined && ms !== undefined) {
    return new Date(Date.now() - Number(count) * ms).toISOString();
  }
  throw new InvalidArgumentError('It is no length of time such as 30m, 12h, 7d or 4w.');
};

export type TimeOptions = { from?: string; to?: string; last?: string };

/** Adds `--from`, `--to` and `--last`. */
export const addTimes = (command: Command): Command =>
  command
    .option('--from <time>', 'no earlier than this: ISO 8601 with its offset')
    .option('--to <time>', 'earlier than this')
    .addOption(
      new Option('--last <length>', 'what began so long ago or later, such as 12h or 7d')
        .argParser(parseAgo)
        .conflicts('from'),
    );

/** Returns the beginning of the range that those options set. */
export const fromOf = ({ from, last }: TimeOptions): string | undefined => from ?? last;

type TraceOptions = ServiceOptions &
  PagingOptions &
  TimeOptions & {
    name?: string;
    user?: string;
    session?: string;
    tag?: string[];
    environment?: string[];
    release?: string;
    version?: string;
    filter?: string;
    order?: string;
  };

const addTraceList = (traces: Command, context: Context): void => {
  const list = addCommand(traces, {
    usage: 'list',
    summary: 'what agents did, latest first',
    example: 'svc traces list --user ada --last 7d\nsvc traces list --tag paid --json',
  })
    .option('--name <name>', 'only traces of this name')
    .option('--user <id>', 'only those of this user')
    .option('--session <id>', 'only those of this session')
    .option('--tag <tag>', 'only those with this tag; repeatable, all must be there', collect)
    .option('--environment <name>', 'only of this environment; repeatable, any of them', collect)
    .option('--release <release>', 'only of this release')
    .option('--filter <json>', 'conditions as the REST API has them')
    .option('--order <field.direction>', 'such as name.asc');
  addVersion(list, {
    about: 'only of this version of the application',
    formerly: 'app-version',
  });
  withService(addTimes(addPaging(list))).action(async (options: TraceOptions) => {
    const query = {
      ...{ ...pageOf(options), fields: 'core,metrics' },
      ...given('name', options.name),
      ...given('userId', options.user),
      ...given('sessionId', options.session),
      ...given('tags', options.tag),
      ...given('environment', options.environment),
      ...given('release', options.release),
      ...given('version', options.version),
      ...given('filter', options.filter),
      ...given('orderBy', options.order),
      ...given('fromTimestamp', fromOf(options)),
      ...given('toTimestamp', options.to),
    };
    const { body } = await clientFor(context, options).send(api.listTraces, { query });
    printPage(context, options, body, listTraces);
  });
};

const addTraceRest = (traces: Command, context: Context): void => {
  const show = addCommand(traces, {
    usage: 'show <trace>',
    summary: 'one trace: its observations as a tree, with times and costs, and its scores',
    example: 'svc traces show 5f1c… --json',
  });
  withService(show).action(async (traceId: string, options: ServiceOptions) => {
    const params = { traceId };
    const { body } = await clientFor(context, options).send(api.getTrace, { params });
    printAnswer(context, options, body, (view) => describeTrace(body, view));
  });
  const remove = addCommand(traces, {
    usage: 'delete <trace...>',
    summary: 'delete traces with their observations and scores',
    example: 'svc traces delete 5f1c… 77ab…',
  });
  withService(remove).action(async (traceIds: string[], options: ServiceOptions) => {
    const body = { traceIds };
    const answer = await clientFor(context, options).send(api.deleteTraces, { body });
    const count = traceIds.length === 1 ? 'the trace is' : `${traceIds.length} traces are`;
    printAnswer(context, options, answer.body, () => `${count} deleted`);
  });
};

type SessionOptions = ServiceOptions & PagingOptions & TimeOptions & { environment?: string[] };

const addSessions = (traces: Command, context: Context): void => {
  const sessions = traces.command('sessions').description('sessions of traces');
  const list = addCommand(sessions, {
    usage: 'list',
    summary: 'sessions of traces, newest first',
    example: 'svc traces sessions list --last 1d',
  }).option('--environment <name>', 'only of this environment; repeatable', collect);
  withService(addTimes(addPaging(list))).action(async (options: SessionOptions) => {
    const query = {
      ...pageOf(options),
      ...given('environment', options.environment),
      ...given('fromTimestamp', fromOf(options)),
      ...given('toTimestamp', options.to),
    };
    const { body } = await clientFor(context, options).send(api.listTraceSessions, { query });
    printPage(context, options, body, listTraceSessions);
  });
  const show = addCommand(sessions, {
    usage: 'show <session>',
    summary: 'one session with its traces',
    example: 'svc traces sessions show chat-17',
  });
  withService(show).action(async (sessionId: string, options: ServiceOptions) => {
    const params = { sessionId };
    const { body } = await clientFor(context, options).send(api.getTraceSession, { params });
    printAnswer(context, options, body, (view) => describeTraceSession(body, view));
  });
};

type ObservationOptions = ServiceOptions &
  PagingOptions &
  TimeOptions & {
    name?: string;
    type?: string;
    level?: string;
    trace?: string;
    parent?: string;
    user?: string;
    environment?: string[];
    version?: string;
    filter?: string;
  };

const addObservationList = (observations: Command, context: Context): void => {
  const list = addCommand(observations, {
    usage: 'list',
    summary: 'steps of agents, latest first',
    example: 'svc observations list --type GENERATION --level ERROR --last 1d',
  })
    .option('--name <name>', 'only of this name')
    .addOption(new Option('--type <type>', 'only of this type').choices([...observationTypes]))
    .addOption(new Option('--level <level>', 'only of this level').choices([...levels]))
    .option('--trace <id>', 'only those of this trace')
    .option('--parent <id>', 'only those right below this one')
    .option('--user <id>', 'only those of this user')
    .option('--environment <name>', 'only of this environment; repeatable', collect)
    .option('--filter <json>', 'conditions as the REST API has them');
  addVersion(list, { about: 'only of this version of the application' });
  withService(addTimes(addPaging(list))).action(async (options: ObservationOptions) => {
    const query = {
      ...pageOf(options),
      ...given('name', options.name),
      ...given('type', options.type),
      ...given('level', options.level),
      ...given('traceId', options.trace),
      ...given('parentObservationId', options.parent),
      ...given('userId', options.user),
      ...given('environment', options.environment),
      ...given('version', options.version),
      ...given('filter', options.filter),
      ...given('fromStartTime', fromOf(options)),
      ...given('toStartTime', options.to),
    };
    const { body } = await clientFor(context, options).send(api.listObservations, { query });
    printPage(context, options, body, listObservations);
  });
  const show = addCommand(observations, {
    usage: 'show <observation>',
    summary: 'one observation: what it used and cost, what went in and came out',
    example: 'svc observations show 9c2e…',
  });
  withService(show).action(async (observationId: string, options: ServiceOptions) => {
    const params = { observationId };
    const { body } = await clientFor(context, options).send(api.getObservation, { params });
    printAnswer(context, options, body, () => describeObservation(body));
  });
};

export const addTraces = (program: Command, context: Context): void => {
  const traces = program.command('traces').description('what agents did, trace by trace');
  for (const add of [addTraceList, addTraceRest, addSessions]) add(traces, context);
  const observations = program.command('observations').description('steps of agents');
  addObservationList(observations, context);
};
