/**
 * A dataset run of world tasks: each item is a task, each session that is opened on it one link of the run. The id of
 * the session is that of the trace which the link names, and the grade of the session a score of that trace. An item
 * is linked once its session was graded, so that a run that was broken off goes on with what is left.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AppError } from '#domain/error.ts';
import type { Env } from '#runtime/env.ts';
import type { Client } from '#wire/client.ts';
import type { DatasetItemView } from '#wire/public-api/dataset.ts';
import type { Grade } from '#wire/public-api/grade.ts';
import * as api from '#wire/public-api/operations.ts';
import type { OpenSessionBody, SessionView } from '#wire/public-api/session.ts';
import { firstWaitSeconds, sendCall, waitUntilReady } from './waits.ts';

export type RunPlan = {
  client: Client;
  dataset: { id: string; name: string };
  /** The name of the run. */
  run: string;
  /** With or without `@<version>`. */
  world: string;
  waitSeconds: number;
  signal: AbortSignal;
};

/** What came of an item. */
export type ItemEnd = { item: string; sessionId: string; grade: Grade };

type Pages<Row> = { data: readonly Row[]; meta: { nextCursor?: string } };

const walk = async <Row>(read: (from: object) => Promise<Pages<Row>>): Promise<Row[]> => {
  const rows: Row[] = [];
  let from: object = {};
  for (;;) {
    const { data, meta } = await read(from);
    rows.push(...data);
    if (meta.nextCursor === undefined) return rows;
    from = { cursor: meta.nextCursor };
  }
};

/** The active items of a dataset that a run has not linked yet, oldest first. */
export const itemsLeft = async ({ client, dataset, run }: RunPlan): Promise<DatasetItemView[]> => {
  const items = await walk<DatasetItemView>(async (from) => {
    const query = { ...from, datasetName: dataset.name, limit: '20' };
    return (await client.send(api.listDatasetItems, { query })).body as Pages<DatasetItemView>;
  });
  const runs = { ...{ datasetId: dataset.id, runName: run }, limit: '100' };
  const links = await walk<{ datasetItemId: string }>(async (from) => {
    const query = { ...from, ...runs };
    return (await client.send(api.listDatasetRunItems, { query })).body as Pages<{
      datasetItemId: string;
    }>;
  }).catch((error: unknown) => {
    // The run begins with its first link.
    if (error instanceof AppError && error.code === 'not_found') return [];
    throw error;
  });
  const linked = new Set(links.map(({ datasetItemId }) => datasetItemId));
  return items.filter(({ id }) => !linked.has(id)).reverse();
};

/** Opens a session on an item: its input is what `task` is of a session. */
export const openOn = async (
  { client, world, waitSeconds, signal }: RunPlan,
  { id, input }: DatasetItemView,
): Promise<SessionView> => {
  const task = input as OpenSessionBody['task'];
  if (task === null || task === undefined) {
    throw new AppError('invalid', `the item "${id}" has no input, which is to be a task`);
  }
  const endsAt = performance.now() + waitSeconds * 1_000;
  const query = { wait: firstWaitSeconds(waitSeconds) };
  const body = { slug: world, task };
  const opened = await client.send(api.openSession, { query, body, signal });
  const session = await waitUntilReady({ client, session: opened.body, endsAt, signal });
  if (session.ready) return session;
  const why = session.error === null ? session.state : session.error.message;
  throw new AppError('unavailable', `the session ${session.id} of "${id}" is not ready: ${why}`);
};

/** What an agent is told of the session that it is to work in. */
export const agentEnv = (session: SessionView, item: DatasetItemView): Record<string, string> => {
  const { api: vendor, mcp } = session.surfaces;
  const given: [string, string | undefined][] = [
    ['SVC_SESSION_ID', session.id],
    ['SVC_TRACE_ID', session.id],
    ['SVC_INSTRUCTION', session.instruction ?? ''],
    ['SVC_DATASET_ITEM', item.id],
    ['SVC_API_URL', vendor?.url],
    ['SVC_API_TOKEN', vendor?.token],
    ['SVC_MCP_URL', mcp?.url],
    ['SVC_MCP_TOKEN', mcp?.token],
  ];
  return Object.fromEntries(
    given.filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
};

/** Runs the agent's command to its end; what it prints goes where `say` puts it. Throws when it fails to start. */
export const runAgent = async (
  command: string,
  {
    env,
    cwd,
    signal,
    say,
  }: { env: Env; cwd: string; signal: AbortSignal; say(text: string): void },
): Promise<void> => {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const child = spawn(command, { shell: true, cwd, env, signal, stdio });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => say(String(bytes)));
  const [status] = await once(child, 'close');
  // The session is graded all the same: an agent that gives up may have done its task.
  if (status !== 0) say(`the agent ended with ${status}\n`);
};

/** Grades a session, notes the grade as a score, and links the item. */
export const gradeAndLink = async (
  { client, run, signal }: RunPlan,
  { id: item }: Pick<DatasetItemView, 'id'>,
  sessionId: string,
): Promise<ItemEnd> => {
  const call = await sendCall({ client, sessionId, call: { kind: 'grade' }, signal });
  if (call.state !== 'succeeded') {
    const why = call.error?.message ?? call.state;
    throw new AppError(
      'unavailable',
      `the session ${sessionId} of "${item}" was not graded: ${why}`,
    );
  }
  const grade = call.output as Grade;
  if (grade.score !== null) {
    const score = { id: `grade-${sessionId}`, name: 'grade', traceId: sessionId };
    const body = { ...score, value: grade.score, dataType: 'NUMERIC', comment: grade.verdict };
    await client.send(api.createScore, { body });
  }
  const link = { runName: run, datasetItemId: item, traceId: sessionId };
  await client.send(api.createDatasetRunItem, { body: link });
  return { item, sessionId, grade };
};
