/** `svc datasets run`: an agent on each item of a dataset, in a session of a world of its own. */
import type { Command } from 'commander';
import { describeError } from '#domain/error.ts';
import type { RolloutView, WorldRunView } from '#wire/public-api/dataset.ts';
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
  runAgent,
} from '../service/dataset-run.ts';
import type { Context } from '../terminal/context.ts';
import { formatTable } from '../terminal/print.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { usageError } from '../views/report.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';

type Options = ServiceOptions & {
  world: string;
  version?: string;
  name?: string;
  agent?: string;
  detach?: true;
  concurrency: number;
  wait: number;
};

const progressOf = ({ graded, passed, failed, items }: WorldRunView): string =>
  `${graded} of ${items} graded, ${passed} passed${failed === 0 ? '' : `, ${failed} not graded`}`;

/** What came of a run, and how to have it go on. */
const summary = (name: string, run: WorldRunView, items: readonly RolloutView[]): string => {
  const rows = [
    ['ITEM', 'VERDICT', 'SCORE', 'SESSION', 'ERROR'],
    ...items.map(({ datasetItemId, verdict, score, sessionId, error }) => [
      ...[datasetItemId, verdict ?? 'not graded', score?.toFixed(2) ?? '-'],
      ...[sessionId ?? '-', error ?? '-'],
    ]),
  ];
  const stopped = run.reason === null ? '' : `; stopped: ${run.reason}`;
  const isWhole = run.graded === run.items;
  const more = isWhole ? '' : '; the same command with this --name goes on';
  return `${formatTable(rows)}\n\nrun "${name}": ${progressOf(run)}${stopped}${more}`;
};

const printEnd = async (context: Context, run: Run, options: Options): Promise<void> => {
  const { items, run: worldRun } = await readItems(run);
  const answer = { runName: run.run, worldRun, items };
  printAnswer(context, options, answer, () => summary(run.run, worldRun, items));
  setVerdict(context, worldRun.graded === worldRun.items);
};

const playOne = async (
  context: Context,
  run: Run,
  item: OpenItem,
  { agent, wait }: Options & { agent: string },
): Promise<void> => {
  const session = await readySession(run, item, wait);
  const env = { ...context.env, ...agentEnv(session, item.datasetItemId) };
  const say = (text: string): void => context.err.write(text);
  await runAgent(agent, { env, cwd: context.cwd, signal: run.signal, say });
  const { verdict } = await gradeSession(run, item.sessionId);
  context.err.write(`${item.datasetItemId}: ${verdict}\n`);
};

/** Ends the session of an item that could not be played, so that the run goes on with the others. */
const giveUp = async (context: Context, { client }: Run, item: OpenItem, error: unknown) => {
  context.err.write(`${item.datasetItemId}: ${describeError(error)}\n`);
  const params = { sessionId: item.sessionId };
  await client.send(api.closeSession, { params, body: {} });
};

/** As many at once as the service opens sessions. */
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

/** Without an agent of its own: tells of the sessions, for one that works elsewhere and grades them. */
const tellSessions = (context: Context, run: Run, options: Options): Promise<WorldRunView> =>
  followRun(run, async (item) => {
    const session = await readySession(run, item, options.wait);
    const env = agentEnv(session, item.datasetItemId);
    context.out.writeExactly(`${JSON.stringify({ item: item.datasetItemId, ...env })}\n`);
  });

const start = async (context: Context, name: string, options: Options): Promise<void> => {
  const { concurrency, agent } = options;
  const world = addressWith(options.world, options.version);
  if (options.detach === true && agent !== undefined) {
    throw usageError('--detach only begins the run: leave out --agent');
  }
  const client = clientFor(context, options);
  const body = {
    world,
    concurrency,
    ...(options.name === undefined ? {} : { name: options.name }),
  };
  const started = (await client.send(api.startDatasetRun, { params: { name }, body })).body;
  if (options.detach === true) {
    const text = `run "${started.name}" has begun: ${progressOf(started.worldRun)}`;
    printAnswer(context, options, started, () => text);
    return;
  }
  context.err.write(`run "${started.name}" of ${started.worldRun.items} items\n`);
  const stopping = listenForStop();
  const run: Run = { client, dataset: name, run: started.name, signal: stopping.signal };
  try {
    if (agent !== undefined) setVerdict(context, false); // until all items are graded
    if (agent === undefined) await tellSessions(context, run, options);
    else await play(context, run, { ...options, agent });
    stopping.signal.throwIfAborted();
    if (agent !== undefined) await printEnd(context, run, options);
  } catch (error) {
    // Nobody would work in the sessions that it went on to open.
    await client.send(api.stopDatasetRun, { params: { name, runName: started.name } });
    throw stopReason(stopping, error);
  } finally {
    stopping.release();
  }
};

const addStart = (datasets: Command, context: Context): void => {
  const command = addCommand(datasets, {
    usage: 'run <dataset>',
    summary:
      'run an agent on each item: a session of the world on the item as its task, then graded',
    example: [
      'svc datasets run smoke --world crm@stable --agent "python agent.py" --name nightly',
      'svc datasets run smoke --world crm   # prints the sessions for an agent, as they are opened',
    ].join('\n'),
  })
    .requiredOption('--world <world>', 'the world, with @<version> for another than its newest')
    .option('--name <run>', 'the run; one that was broken off goes on; default: world and time')
    .option(
      '--agent <command>',
      'run in a shell for each session, which it finds in SVC_… variables',
    )
    .option('--detach', 'only begin; "svc datasets runs sessions" shows the sessions')
    .option(
      '--concurrency <number>',
      'sessions at once',
      parseNumber({ min: 1, max: 100, whole: true }),
      4,
    )
    .option(
      '--wait <seconds>',
      'how long a session may take to be ready',
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
    summary:
      'grade the session of an item that an agent worked in elsewhere, link it, and close it',
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

/** The sessions of a run on a world, and its end before its time. */
export const addRunSessions = (runs: Command, context: Context): void => {
  const sessions = addCommand(runs, {
    usage: 'sessions <dataset> <run>',
    summary: 'the items of a run on a world with their sessions and grades',
    example: 'svc datasets runs sessions smoke nightly --json',
  });
  withService(sessions).action(async (dataset: string, name: string, options: ServiceOptions) => {
    const { signal } = new AbortController();
    const run: Run = { client: clientFor(context, options), dataset, run: name, signal };
    const { items, run: worldRun } = await readItems(run);
    printAnswer(context, options, { worldRun, items }, () => summary(name, worldRun, items));
  });

  const stop = addCommand(runs, {
    usage: 'stop <dataset> <run>',
    summary: 'close the open sessions of a run on a world, and open no more',
    example: 'svc datasets runs stop smoke nightly',
  });
  withService(stop).action(async (dataset: string, name: string, options: ServiceOptions) => {
    const params = { name: dataset, runName: name };
    const { body } = await clientFor(context, options).send(api.stopDatasetRun, { params });
    const text = `run "${name}" is ${body.worldRun.state.toLowerCase()}: ${progressOf(body.worldRun)}`;
    printAnswer(context, options, body, () => text);
  });
};

export const addDatasetRun = (datasets: Command, context: Context): void => {
  addStart(datasets, context);
  addGrade(datasets, context);
};
