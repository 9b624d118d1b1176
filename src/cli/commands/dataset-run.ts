/** `svc datasets run`: an agent on each item of a dataset, in a session of a world of its own. */
import type { Command } from 'commander';
import { AppError, describeError } from '#domain/error.ts';
import type { DatasetItemView } from '#wire/public-api/dataset.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  agentEnv,
  gradeAndLink,
  type ItemEnd,
  itemsLeft,
  openOn,
  type RunPlan,
  runAgent,
} from '../service/dataset-run.ts';
import { createLanes } from '../service/lanes.ts';
import type { Context } from '../terminal/context.ts';
import { formatJson, formatTable } from '../terminal/print.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { addCommand, clientFor, parseNumber, type ServiceOptions, withService } from './command.ts';

type Options = ServiceOptions & {
  world: string;
  name?: string;
  agent?: string;
  concurrency: number;
  wait: number;
};

type Failed = { item: string; error: string };

const playOne = async (
  context: Context,
  plan: RunPlan,
  item: DatasetItemView,
  agent: string,
): Promise<ItemEnd> => {
  const session = await openOn(plan, item);
  try {
    const env = { ...context.env, ...agentEnv(session, item) };
    const say = (text: string): void => context.err.write(text);
    await runAgent(agent, { env, cwd: context.cwd, signal: plan.signal, say });
    return await gradeAndLink(plan, item, session.id);
  } finally {
    await plan.client.send(api.closeSession, { params: { sessionId: session.id }, body: {} });
  }
};

/** Does it with each item, so many at once; what fails is told, and the others go on. */
const forEach = async (
  items: readonly DatasetItemView[],
  atOnce: number,
  work: (item: DatasetItemView) => Promise<void>,
  failed: (failure: Failed) => void,
  signal: AbortSignal,
): Promise<void> => {
  const lanes = createLanes<DatasetItemView>({
    atOnce,
    most: atOnce * 2,
    work: async (item) => {
      if (signal.aborted) return;
      try {
        await work(item);
      } catch (error) {
        failed({ item: item.id, error: describeError(error) });
      }
    },
  });
  for (const item of items) {
    await lanes.room();
    if (signal.aborted) break;
    lanes.add(item.id, item);
  }
  await lanes.drained();
};

const summary = (run: string, ends: readonly ItemEnd[], failures: readonly Failed[]): string => {
  const passed = ends.filter(({ grade }) => grade.passed).length;
  const lines = [
    ['ITEM', 'VERDICT', 'SCORE', 'SESSION'],
    ...ends.map(({ item, grade, sessionId }) => [
      ...[item, grade.verdict, grade.score?.toFixed(2) ?? '-', sessionId],
    ]),
    ...failures.map(({ item, error }) => [item, 'not run', '-', error]),
  ];
  const rest =
    failures.length === 0 ? '' : `; ${failures.length} not run: the same command goes on`;
  return `${formatTable(lines)}\n\nrun "${run}": ${passed} of ${ends.length} passed${rest}`;
};

const play = async (context: Context, plan: RunPlan, options: Options & { agent: string }) => {
  const items = await itemsLeft(plan);
  const ends: ItemEnd[] = [];
  const failures: Failed[] = [];
  const work = async (item: DatasetItemView): Promise<void> => {
    const end = await playOne(context, plan, item, options.agent);
    ends.push(end);
    context.err.write(`${ends.length} of ${items.length}: ${end.item} ${end.grade.verdict}\n`);
  };
  const note = (failure: Failed) => failures.push(failure);
  await forEach(items, options.concurrency, work, note, plan.signal);
  const { run } = plan;
  const answer = { runName: run, items: ends, failures };
  context.out.write(
    options.json === true ? formatJson(answer) : `${summary(run, ends, failures)}\n`,
  );
  if (failures.length > 0) context.setExitStatus(1);
};

/** Without an agent of its own: sessions for one that works elsewhere, until `svc datasets grade` looks. */
const openAll = async (context: Context, plan: RunPlan, options: Options) => {
  const items = await itemsLeft(plan);
  const failures: Failed[] = [];
  const print = async (item: DatasetItemView): Promise<void> => {
    const session = await openOn(plan, item);
    context.out.write(`${JSON.stringify({ item: item.id, ...agentEnv(session, item) })}\n`);
  };
  const note = (failure: Failed) => failures.push(failure);
  await forEach(items, options.concurrency, print, note, plan.signal);
  const [first] = failures;
  if (first === undefined) return;
  const message = `${failures.length} sessions were not opened; "${first.item}": ${first.error}`;
  throw new AppError('unavailable', message);
};

export const addDatasetRun = (datasets: Command, context: Context): void => {
  const command = addCommand(datasets, {
    usage: 'run <dataset>',
    summary:
      'run an agent on each item: a session of the world on the item as its task, then graded',
    example: [
      'svc datasets run smoke --world crm@stable --agent "python agent.py" --name nightly',
      'svc datasets run smoke --world crm   # opens the sessions and prints them for an agent',
    ].join('\n'),
  })
    .requiredOption('--world <world>', 'the world, with @<version> for another than its newest')
    .option('--name <run>', 'the run; one that was broken off goes on; default: world and time')
    .option(
      '--agent <command>',
      'run in a shell for each session, which it finds in SVC_… variables',
    )
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
  withService(command).action(async (name: string, options: Options) => {
    const client = clientFor(context, options);
    const { body } = await client.send(api.getDataset, { params: { datasetName: name } });
    const stopping = listenForStop();
    const run = options.name ?? `${options.world} ${new Date().toISOString()}`;
    const { world, wait: waitSeconds, agent } = options;
    const plan: RunPlan = {
      client,
      dataset: body,
      run,
      world,
      waitSeconds,
      signal: stopping.signal,
    };
    try {
      if (agent === undefined) await openAll(context, plan, options);
      else await play(context, plan, { ...options, agent });
      stopping.signal.throwIfAborted();
    } catch (error) {
      throw stopReason(stopping, error);
    } finally {
      stopping.release();
    }
  });

  const grade = addCommand(datasets, {
    usage: 'grade <dataset> <run> <item> <session>',
    summary:
      'grade the session of an item that an agent worked in elsewhere, link it, and close it',
    example: 'svc datasets grade smoke nightly renew-contract ses-…',
  });
  withService(grade).action(
    async (name: string, run: string, item: string, sessionId: string, options: ServiceOptions) => {
      const client = clientFor(context, options);
      const { body } = await client.send(api.getDataset, { params: { datasetName: name } });
      const { signal } = new AbortController();
      const plan: RunPlan = { client, dataset: body, run, world: '', waitSeconds: 0, signal };
      const end = await gradeAndLink(plan, { id: item }, sessionId);
      await client.send(api.closeSession, { params: { sessionId }, body: {} });
      context.out.write(options.json === true ? formatJson(end) : `${summary(run, [end], [])}\n`);
    },
  );
};
