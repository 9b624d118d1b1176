/**
 * A session as its client uses it: opened, called, closed. The answers to the client are recorded, to be compared with
 * the database afterwards.
 */
import { AppError, describeError } from '#domain/error.ts';
import { isReady } from '#domain/session.ts';
import type { Client } from '#wire/client.ts';
import { closeSession, enqueueCall, getSession, openSession } from '#wire/public-api/operations.ts';
import type { CallRequest, CallView } from '#wire/public-api/sessions/call.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { awaitCall, awaitSession, isOver } from '../../support/programs/load.ts';
import { type ApiWrite, type ApiWriter, startApiWriter } from './api-writer.ts';

export type Life = {
  /** Session as the client saw it last; undefined when it could not be opened. */
  session: SessionView | undefined;
  /** Acknowledged calls, as the client saw them last. */
  calls: CallView[];
  /** Descriptions of requests that were refused or never answered. */
  refusals: string[];
  /** Writes over the session's API before its last call. */
  writes: ApiWrite[];
  /** True if the session's API answered again before the last call, or if the session was over. */
  isReached: boolean;
};

/**
 * Time within which the session's API has to answer again, in milliseconds: longer than a fault and its repair take.
 */
const reachMs = 30_000;

const slowMs = 120;
const firstNote = 1_001;

const create = (id: number): CallRequest => ({
  kind: 'tool',
  name: 'create_notes',
  input: { id, folder_id: 1, title: 'a note', done: false },
});

const countSlowly = (note_id: number): CallRequest => ({
  kind: 'tool',
  name: 'count_slowly',
  input: { milliseconds: slowMs, note_id },
});

/** Ends the writing over the API once that works, and records the results. */
const endWriting = async (client: Client, writer: ApiWriter, life: Life): Promise<void> => {
  const isReached = await writer.reaches(reachMs);
  life.writes = await writer.stop();
  if (isReached || life.session === undefined) return;
  const params = { sessionId: life.session.id };
  const { state } = (await client.send(getSession, { params })).body;
  life.isReached = !isReady(state);
};

/**
 * Makes the calls of a session. Each adds a note of its own, so a call that runs twice fails because its key is taken.
 */
const callSession = async (
  client: Client,
  sessionId: string,
  writer: ApiWriter,
  life: Life,
): Promise<void> => {
  const enqueue = async (body: CallRequest): Promise<number> => {
    const asked = await client.send(enqueueCall, { params: { sessionId }, body });
    return life.calls.push(asked.body) - 1;
  };
  const settle = async (place: number): Promise<void> => {
    life.calls[place] = await awaitCall(client, life.calls[place] as CallView);
  };
  await settle(await enqueue(create(firstNote)));
  // The second call waits in the queue while the first runs.
  const running = await enqueue(countSlowly(firstNote + 1));
  const queued = await enqueue(create(firstNote + 2));
  await Promise.all([settle(running), settle(queued)]);
  await endWriting(client, writer, life);
  await settle(await enqueue({ kind: 'state', input: {} }));
};

/** Runs a step and records its error, which is checked when the case is over. */
const attempt = async (life: Life, what: string, step: () => Promise<void>): Promise<void> => {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    life.refusals.push(`${what}: ${error.code}: ${describeError(error)}`);
  }
};

/** Runs one session of the world of notes from open to close. */
export const live = async (client: Client, keepWarm: boolean): Promise<Life> => {
  const life: Life = {
    session: undefined,
    calls: [],
    refusals: [],
    writes: [],
    isReached: true,
  };
  await attempt(life, 'open', async () => {
    const body = { slug: 'notes', reuseWarm: true };
    const opened = (await client.send(openSession, { body })).body;
    life.session = opened;
    life.session = await awaitSession(client, opened, (one) => isReady(one.state) || isOver(one));
  });
  const { session } = life;
  if (session === undefined) return life;
  const params = { sessionId: session.id };
  if (isReady(session.state)) {
    const writer = startApiWriter(client, session);
    await attempt(life, 'call', () => callSession(client, session.id, writer, life));
    life.writes = await writer.stop();
  }
  await attempt(life, 'close', async () => {
    const closing = await client.send(closeSession, { params, body: { keepWarm } });
    life.session = await awaitSession(client, closing.body, isOver);
  });
  return life;
};
