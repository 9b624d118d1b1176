/** `svc traces` and `svc observations`: traces of agents, and their observations. */
import { type Command, Option } from 'commander';
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
import { addVersion, given } from './command.ts';
import { addListCommand, addRequestCommand, repeatable } from './request-command.ts';

type VersionFilter = { version?: string };

const addTraceList = (traces: Command, context: Context): void => {
  addListCommand(traces, context, {
    usage: 'list',
    summary: 'list traces, latest first',
    example: 'svc traces list --user ada --last 7d\nsvc traces list --tag paid --json',
    filters: {
      name: new Option('--name <name>', 'only traces with this name'),
      userId: new Option('--user <id>', 'only traces of this user'),
      sessionId: new Option('--session <id>', 'only traces of this trace session'),
      tags: repeatable(
        '--tag <tag>',
        'only traces with this tag; repeatable, a trace must have all of them',
      ),
      environment: repeatable(
        '--environment <name>',
        'only traces in this environment; repeatable, any of them matches',
      ),
      release: new Option('--release <release>', 'only traces of this release'),
      filter: new Option('--filter <json>', 'filter conditions, in the JSON form of the REST API'),
      orderBy: new Option('--order <field.direction>', 'sort order, such as name.asc'),
    },
    options: (command) =>
      addVersion(command, {
        about: 'only traces of this version of the application',
        formerly: 'app-version',
      }),
    times: ['fromTimestamp', 'toTimestamp'],
    operation: api.listTraces,
    input: (_words, { version }: VersionFilter) => ({
      query: { fields: 'core,metrics', ...given('version', version) },
    }),
    text: listTraces,
  });
};

const addTraceRest = (traces: Command, context: Context): void => {
  addRequestCommand(traces, context, {
    usage: 'show <trace>',
    summary: 'show a trace: its observations as a tree, with times and costs, and its scores',
    example: 'svc traces show 5f1c… --json',
    operation: api.getTrace,
    input: ([traceId]) => ({ params: { traceId } }),
    text: describeTrace,
  });
  addRequestCommand(traces, context, {
    usage: 'delete <trace...>',
    summary: 'delete traces with their observations and scores',
    example: 'svc traces delete 5f1c… 77ab…',
    operation: api.deleteTraces,
    input: ([traceIds]) => ({ body: { traceIds } }),
    text: (_body, _view, [traceIds]) =>
      `${traceIds.length === 1 ? 'the trace is' : `${traceIds.length} traces are`} deleted`,
  });
};

const addSessions = (traces: Command, context: Context): void => {
  const sessions = traces.command('sessions').description('trace sessions');
  addListCommand(sessions, context, {
    usage: 'list',
    summary: 'list trace sessions, newest first',
    example: 'svc traces sessions list --last 1d',
    filters: {
      environment: repeatable(
        '--environment <name>',
        'only trace sessions in this environment; repeatable',
      ),
    },
    times: ['fromTimestamp', 'toTimestamp'],
    operation: api.listTraceSessions,
    text: listTraceSessions,
  });
  addRequestCommand(sessions, context, {
    usage: 'show <session>',
    summary: 'show a trace session with its traces',
    example: 'svc traces sessions show chat-17',
    operation: api.getTraceSession,
    input: ([sessionId]) => ({ params: { sessionId } }),
    text: describeTraceSession,
  });
};

const addObservationList = (observations: Command, context: Context): void => {
  addListCommand(observations, context, {
    usage: 'list',
    summary: 'list observations, latest first',
    example: 'svc observations list --type GENERATION --level ERROR --last 1d',
    filters: {
      name: new Option('--name <name>', 'only observations with this name'),
      type: new Option('--type <type>', 'only observations of this type').choices([
        ...observationTypes,
      ]),
      level: new Option('--level <level>', 'only observations of this level').choices([...levels]),
      traceId: new Option('--trace <id>', 'only observations of this trace'),
      parentObservationId: new Option(
        '--parent <id>',
        'only the direct children of this observation',
      ),
      userId: new Option('--user <id>', 'only observations of this user'),
      environment: repeatable(
        '--environment <name>',
        'only observations in this environment; repeatable',
      ),
      filter: new Option('--filter <json>', 'filter conditions, in the JSON form of the REST API'),
    },
    options: (command) =>
      addVersion(command, { about: 'only observations of this version of the application' }),
    times: ['fromStartTime', 'toStartTime'],
    operation: api.listObservations,
    input: (_words, { version }: VersionFilter) => ({ query: { ...given('version', version) } }),
    text: listObservations,
  });
  addRequestCommand(observations, context, {
    usage: 'show <observation>',
    summary: 'show an observation: usage, cost, input and output',
    example: 'svc observations show 9c2e…',
    operation: api.getObservation,
    input: ([observationId]) => ({ params: { observationId } }),
    text: describeObservation,
  });
};

export const addTraces = (program: Command, context: Context): void => {
  const traces = program.command('traces').description('traces of agents and trace sessions');
  for (const add of [addTraceList, addTraceRest, addSessions]) add(traces, context);
  const observations = program
    .command('observations')
    .description('observations: the steps of traces');
  addObservationList(observations, context);
};
