/** `svc datasets run`: runs an agent on each item of a dataset, each in a session of its own. */
import type { Command } from 'commander';
import { describeAgentEnd, isAgentFailure } from '#domain/agent-end.ts';
import { describeError } from '#domain/error.ts';
import type { WorldRunView } from '#wire/public-api/evaluation/dataset.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  agentEnv,
  followRun,
  gradeAndLink,
  gradeSession,
  type OpenItem,
  type Run,
  readItems,
  readySession,
  reportAgent,
} from '../service/dataset-run.ts';
import { envOfAgent, runAgent } from '../service/run-agent.ts';
import type { Context } from '../terminal/context.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { describeWorldRun, progressOf } from '../views/dataset-run.ts';
import { exitStatus, usageError } from '../views/report.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';
import { addRequestCommand } from './request-command.ts';

type Options = ServiceOptions & {
  world: string;
  version?: string;
  name?: string;
  agent?: string;
  detach?: true;
  agentTimeout?: number;
  buildHash?: string;
  concurrency: number;
  wait: number;
};

const printEnd = async (context: Context, run: Run, options: Options): Promise<void> => {
  const { items, run: worldRun } = await readItems(run);
  const answer = { runName: run.run, worldRun, items };
  printAnswer(context, options, answer, (view) => describeWorldRun(run.run, answer, view));
  setVerdict(context, worldRun.graded === worldRun.items);
  if (worldRun.crashed > 0) context.setExitStatus(exitStatus.agentFailed);
};

const playOne = async (
  context: Context,
  run: Run,
  item: OpenItem,
  { agent: command, agentTimeout: timeoutSeconds, wait }: Options & { agent: string },
): Promise<void> => {
  const session = await readySession(run, item, wait);
  const env = envOfAgent(context.env, agentEnv(session, item.datasetItemId));
  const say = (text: string): void => context.err.write(text);
  const { cwd } = context;
  const exit = await runAgent({ command, env, cwd, signal: run.signal, timeoutSeconds, say });
  const end = await reportAgent(run, item.sessionId, exit);
  if (end.outcome !== 'ended' || end.exitCode !== 0) {
    context.err.write(`${item.datasetItemId}: ${describeAgentEnd(end)}\n`);
  }
  if (isAgentFailure(end.outcome)) return;
  const { verdict } = await gradeSession(run, item.sessionId);
  context.err.write(`${item.datasetItemId}: ${verdict}\n`);
};

/** Closes the session of an item whose agent could not be run, so that the run continues with the other items. */
const giveUp = async (context: Context, { client }: Run, item: OpenItem, error: unknown) => {
  context.err.write(`${item.datasetItemId}: ${describeError(error)}\n`);
  const params = { sessionId: item.sessionId };
  await client.send(api.closeSession, { params, body: {} });
};

/** Runs an agent in each session that the service opens. Several agents may run concurrently. */
const play = async (
  context: Context,
  run: Run,
  options: Options & { agent: string },
): Promise<void> => {
  const playing = new Set<Promise<void>>();
  await followRun(run, (item) => {
    const one = playOne(context, run, item, options)
      .catch((error: unknown) =>
        run.signal.aborted ? undefined : giveUp(context, run, item, error),
      )
      .finally(() => playing.delete(one));
    playing.add(one);
  });
  await Promise.all(playing);
};

/** Runs without an agent: prints the environment of each session, for a program that works and grades elsewhere. */
const printSessions = (context: Context, run: Run, options: Options): Promise<WorldRunView> =>
  followRun(run, async (item) => {
    const session = await readySession(run, item, options.wait);
    const env = agentEnv(session, item.datasetItemId);
    context.out.writeExactly(`${JSON.stringify({ item: item.datasetItemId, ...env })}\n`);
  });

const start = async (context: Context, name: string, options: Options): Promise<void> => {
  const { concurrency, agent } = options;
  const world = addressWith(options.world, options.version);
  if (options.detach === true && agent !== undefined) {
    throw usageError('--detach only starts the run: leave out --agent');
  }
  if (options.agentTimeout !== undefined && agent === undefined) {
    throw usageError('--agent-timeout limits the command of --agent, which is missing');
  }
  const client = clientFor(context, options);
  const body = {
    ...{ world, concurrency, ...given('name', options.name) },
    ...given('buildHash', options.buildHash),
  };
  const started = (await client.send(api.startDatasetRun, { params: { name }, body })).body;
  if (options.detach === true) {
    const text = `run "${started.name}" has started: ${progressOf(started.worldRun)}`;
    printAnswer(context, options, started, () => text);
    return;
  }
  context.err.write(`run "${started.name}" of ${started.worldRun.items} items\n`);
  const stopping = listenForStop();
  const run: Run = { client, dataset: name, run: started.name, signal: stopping.signal };
  try {
    if (agent !== undefined) setVerdict(context, false); // stays until all items are graded
    if (agent === undefined) await printSessions(context, run, options);
    else await play(context, run, { ...options, agent });
    stopping.signal.throwIfAborted();
    if (agent !== undefined) await printEnd(context, run, options);
  } catch (error) {
    // No agent would work in the sessions that the service would still open.
    await client.send(api.stopDatasetRun, { params: { name, runName: started.name } });
    throw stopReason(stopping, error);
  } finally {
    stopping.release();
  }
};

const addStart = (datasets: Command, context: Context): void => {
  const command = addCommand(datasets, {
    usage: 'run <dataset>',
    summary: 'run an agent on each item: open a session with the item as its task, then grade it',
    example: [
      'svc datasets run smoke --world crm@stable --agent "python agent.py" --name nightly',
      'svc datasets run smoke --world crm   # prints the sessions for an agent, as they are opened',
    ].join('\n'),
  })
    .requiredOption(
      '--world <world>',
      'the world, as <world>@<version> for another version than the newest',
    )
    .option(
      '--name <run>',
      'name of the run; an interrupted run continues (default: world and time)',
    )
    .option(
      '--agent <command>',
      'shell command that is run for each session; SVC_… variables describe the session',
    )
    .option(
      '--agent-timeout <seconds>',
      'time limit of the command in each session (default: none)',
      parseNumber({ min: 1, max: 86_400 }),
    )
    .option(
      '--build-hash <hash>',
      'hash of a registered build of the agent, whose rollouts the sessions are',
    )
    .option('--detach', 'only start the run; "svc datasets runs sessions" shows the sessions')
    .option(
      '--concurrency <number>',
      'number of concurrent sessions',
      parseNumber({ min: 1, max: 100, whole: true }),
      4,
    )
    .option(
      '--wait <seconds>',
      'maximum time until a session is ready',
      parseNumber({ min: 1, max: 3_600 }),
      300,
    );
  withService(addWorldVersion(command)).action((name: string, options: Options) =>
    start(context, name, options),
  );
};

const addGrade = (datasets: Command, context: Context): void => {
  const grade = addCommand(datasets, {
    usage: 'grade <dataset> <run> <item> <session>',
    summary: 'grade a session that an agent used elsewhere, link it to the item, and close it',
    example: 'svc datasets grade smoke nightly renew-contract ses-…',
  });
  withService(grade).action(
    async (
      dataset: string,
      name: string,
      item: string,
      session: string,
      options: ServiceOptions,
    ) => {
      const { signal } = new AbortController();
      const run: Run = { client: clientFor(context, options), dataset, run: name, signal };
      const end = await gradeAndLink(run, item, session);
      const score = end.grade.score?.toFixed(2) ?? '-';
      const text = `${item}: ${end.grade.verdict}, score ${score}`;
      printAnswer(context, options, end, () => text);
    },
  );
};

/** Adds the commands that list the sessions of a dataset run on a world, and that stop it. */
export const addRunSessions = (runs: Command, context: Context): void => {
  const sessions = addCommand(runs, {
    usage: 'sessions <dataset> <run>',
    summary: 'list the items of a run on a world, with their sessions and grades',
    example: 'svc datasets runs sessions smoke nightly --json',
  });
  withService(sessions).action(async (dataset: string, name: string, options: ServiceOptions) => {
    const { signal } = new AbortController();
    const run: Run = { client: clientFor(context, options), dataset, run: name, signal };
    const { items, run: worldRun } = await readItems(run);
    const answer = { worldRun, items };
    printAnswer(context, options, answer, (view) => describeWorldRun(name, answer, view));
  });

  addRequestCommand(runs, context, {
    usage: 'stop <dataset> <run>',
    summary: 'stop a run on a world: close its open sessions and open no more',
    example: 'svc datasets runs stop smoke nightly',
    operation: api.stopDatasetRun,
    input: ([name, runName]) => ({ params: { name, runName } }),
    text: ({ worldRun }, _view, [, runName]) =>
      `run "${runName}" is ${worldRun.state.toLowerCase()}: ${progressOf(worldRun)}`,
  });
};

export const addDatasetRun = (datasets: Command, context: Context): void => {
  addStart(datasets, context);
  addGrade(datasets, context);
};
