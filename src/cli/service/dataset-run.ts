/**
 * Client of a dataset run on a world. The service opens a session for each item, and closes a session once it is
 * graded. This file builds the environment of an agent, reports the end of its command, and grades its session;
 * `run-agent.ts` runs the command.
 */
import { type AgentEnd, outcomeOfExit } from '#domain/agent-end.ts';
import { AppError } from '#domain/error.ts';
import { type LedgerOrigin, ledgerEntity } from '#domain/ledger.ts';
import { pause } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import type { RolloutView, WorldRunView } from '#wire/public-api/evaluation/dataset.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import type { AgentExit } from './run-agent.ts';
import { sendCall, waitUntilReady } from './waits.ts';

/** Dataset run on a world. */
export type Run = { client: Client; dataset: string; run: string; signal: AbortSignal };

/** Item of the run, and the session that is open for it. */
export type OpenItem = RolloutView & { sessionId: string };

const lookEveryMs = 500;

type Page = { data: readonly RolloutView[]; worldRun: WorldRunView; next: string | undefined };

const readPage = async (
  { client, dataset: name, run: runName, signal }: Run,
  query: { state?: 'OPEN'; cursor?: string },
): Promise<Page> => {
  const params = { name, runName };
  const { body } = await client.send(api.listDatasetRunSessions, {
    params,
    query: { ...query, limit: 100 },
    signal,
  });
  return { data: body.data, worldRun: body.worldRun, next: body.meta.nextCursor };
};

/** Reads all items of a run. */
export const readItems = async (run: Run): Promise<{ items: RolloutView[]; run: WorldRunView }> => {
  const items: RolloutView[] = [];
  let query: { cursor?: string } = {};
  for (;;) {
    const { data, worldRun, next } = await readPage(run, query);
    items.push(...data);
    if (next === undefined) return { items, run: worldRun };
    query = { cursor: next };
  }
};

const isOpen = (item: RolloutView): item is OpenItem => item.sessionId !== null;

/**
 * Calls `opened` once for each session that the service opens, until the run is finished or stopped. Returns the last
 * state of the run.
 */
export const followRun = async (
  run: Run,
  opened: (item: OpenItem) => void | Promise<void>,
): Promise<WorldRunView> => {
  const seen = new Set<string>();
  for (;;) {
    const { data, worldRun } = await readPage(run, { state: 'OPEN' });
    for (const item of data.filter(isOpen)) {
      if (seen.has(item.sessionId)) continue;
      seen.add(item.sessionId);
      await opened(item);
    }
    if (worldRun.state !== 'RUNNING') return worldRun;
    await pause(lookEveryMs, run.signal);
  }
};

/** Waits until an agent can work in the session of an item, and returns the session. */
export const readySession = async (
  { client, signal }: Run,
  { datasetItemId, sessionId }: OpenItem,
  waitSeconds: number,
): Promise<SessionView> => {
  const endsAt = performance.now() + waitSeconds * 1_000;
  const { body } = await client.send(api.getSession, { params: { sessionId }, signal });
  const session = await waitUntilReady({ client, session: body, endsAt, signal });
  if (session.ready) return session;
  const why = session.error === null ? session.state : session.error.message;
  throw new AppError(
    'unavailable',
    `the session ${sessionId} of "${datasetItemId}" is not ready: ${why}`,
  );
};

/** Returns the environment variables that describe a session to its agent. */
export const agentEnv = (session: SessionView, item: string): Record<string, string> => {
  const { api: vendor, mcp } = session.surfaces;
  const given: [string, string | undefined][] = [
    ['SVC_SESSION_ID', session.id],
    ['SVC_TRACE_ID', session.traceId ?? session.id],
    ['SVC_INSTRUCTION', session.instruction ?? ''],
    ['SVC_DATASET_ITEM', item],
    ['SVC_API_URL', vendor?.url],
    ['SVC_API_TOKEN', vendor?.token],
    ['SVC_MCP_URL', mcp?.url],
    ['SVC_MCP_TOKEN', mcp?.token],
  ];
  return Object.fromEntries(
    given.filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
};

/**
 * Channels through which an agent acts. Ledger entries of the harness and of webhooks are not requests of the agent.
 */
const agentOrigins: readonly LedgerOrigin[] = ['tool', 'api', 'ui', 'browser'];

/** Returns true if the agent made any request. The answer comes from the host, whose ledger is always up to date. */
const hasActed = async ({ client, signal }: Pick<Run, 'client' | 'signal'>, sessionId: string) => {
  const input = { entity: ledgerEntity, where: { via: agentOrigins }, limit: 1 };
  const call = await sendCall({ client, sessionId, call: { kind: 'state', input }, signal });
  if (call.state !== 'succeeded') {
    const why = call.error?.message ?? call.state;
    throw new AppError('unavailable', `the ledger of ${sessionId} could not be read: ${why}`);
  }
  return (call.output as { rows: readonly unknown[] }).rows.length > 0;
};

/**
 * Reports how the agent of a session ended, together with its output. If the agent failed, the service marks the item
 * as failed.
 */
export const reportAgent = async (
  run: Run,
  sessionId: string,
  exit: AgentExit,
): Promise<AgentEnd> => {
  const { exitCode, signal, hasTimedOut, ...printed } = exit;
  const acted = exitCode === 0 || hasTimedOut || (await hasActed(run, sessionId));
  const outcome = hasTimedOut ? 'timed_out' : outcomeOfExit(exitCode, acted);
  const body = { outcome, exitCode, signal, ...printed };
  const params = { sessionId };
  await run.client.send(api.reportAgentEnd, { params, body, signal: run.signal });
  return { outcome, exitCode, signal };
};

/** Grades a session. */
export const gradeSession = async (
  { client, signal }: Pick<Run, 'client' | 'signal'>,
  sessionId: string,
): Promise<Grade> => {
  const call = await sendCall({ client, sessionId, call: { kind: 'grade' }, signal });
  if (call.state === 'succeeded') return call.output as Grade;
  const why = call.error?.message ?? call.state;
  throw new AppError('unavailable', `the session ${sessionId} could not be graded: ${why}`);
};

/** Grades a session that any client used for an item, links it to the item in the run, and closes it. */
export const gradeAndLink = async (
  run: Run,
  datasetItemId: string,
  sessionId: string,
): Promise<{ item: string; sessionId: string; grade: Grade }> => {
  const { client, run: runName } = run;
  const params = { sessionId };
  const { traceId } = (await client.send(api.getSession, { params })).body;
  const grade = await gradeSession(run, sessionId);
  const link = { runName, datasetItemId, traceId: traceId ?? sessionId };
  await client.send(api.createDatasetRunItem, { body: link });
  await client.send(api.closeSession, { params, body: {} });
  return { item: datasetItemId, sessionId, grade };
};
