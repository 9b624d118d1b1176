/**
 * Steady use of the service by several clients, each with one session after the other. A session is opened; it gets
 * quick and slow calls, and a request for its rows; then it is closed, and its ledger is read. Deviations are collected
 * and returned at the end.
 */
import { callTransitions } from '#domain/call.ts';
import { describeError } from '#domain/error.ts';
import { isReady } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { until } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import {
  closeSession,
  enqueueCall,
  getCall,
  getSession,
  listSessionRequests,
  openSession,
} from '#wire/public-api/operations.ts';
import type { CallRequest, CallView } from '#wire/public-api/sessions/call.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';

export type Load = {
  /** Resolves when this many more sessions have ended. */
  beyond(sessions: number): Promise<void>;
  /** Lets the clients finish their current sessions. */
  stop(): Promise<{ lived: number; failures: string[] }>;
};

export type LoadOptions = { client: Client; clients: number };

const callsEach = 6;
const slowMs = 150;
/**
 * Number of sessions for each one that gets a fresh host. All others reuse hosts, as starting a host costs more than a
 * session.
 */
const freshEvery = 5;
const holdSeconds = 20;
const patienceMs = 90_000;
const query = { wait: holdSeconds };

/** Waits for a session. A wait that ends early is repeated, as clients should do. */
export const awaitSession = async (
  client: Client,
  first: SessionView,
  isDone: (session: SessionView) => boolean,
): Promise<SessionView> => {
  let session = first;
  while (!isDone(session)) {
    const params = { sessionId: session.id };
    session = (await client.send(getSession, { params, query })).body;
  }
  return session;
};

export const isOver = ({ state }: SessionView): boolean => state === 'CLOSED' || state === 'FAILED';

/** Waits until a call has ended, in any way. */
export const awaitCall = async (client: Client, first: CallView): Promise<CallView> => {
  let record = first;
  while (!isFinal(callTransitions, record.state)) {
    const params = { sessionId: first.sessionId, callId: first.id };
    record = (await client.send(getCall, { params, query })).body;
  }
  return record;
};

const call = async (client: Client, sessionId: string, body: CallRequest): Promise<CallView> => {
  const asked = await client.send(enqueueCall, { params: { sessionId }, query, body });
  const record = await awaitCall(client, asked.body);
  if (record.state !== 'succeeded') {
    throw new Error(`${record.id} is ${record.state}: ${JSON.stringify(record.error)}`);
  }
  return record;
};

const expectSame = (what: string, found: unknown, wanted: unknown): void => {
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
};

/** Adds notes 1001, 1002, …, so that the rows show a call that ran twice or never. */
const addNotes = async (client: Client, sessionId: string): Promise<void> => {
  for (let n = 1; n <= callsEach; n += 1) {
    const note_id = 1_000 + n;
    if (n % 3 === 0) {
      const input = { milliseconds: slowMs, note_id };
      const slow = await call(client, sessionId, { kind: 'tool', name: 'count_slowly', input });
      expectSame('notes counted', slow.output, n + 1);
    } else {
      const input = { id: note_id, folder_id: 1, title: 'a note', done: false };
      await call(client, sessionId, { kind: 'tool', name: 'create_notes', input });
    }
  }
};

const live = async (client: Client, keepWarm: boolean): Promise<void> => {
  const wanted = { slug: 'notes', reuseWarm: true };
  const opened = await client.send(openSession, { body: wanted, query });
  const session = await awaitSession(client, opened.body, (s) => isReady(s.state) || isOver(s));
  const { id: sessionId } = session;
  expectSame(`${sessionId} opened`, session.state, 'READY');
  await addNotes(client, sessionId);
  const state = await call(client, sessionId, { kind: 'state', input: {} });
  const { counts } = state.output as { counts: Record<string, number> };
  expectSame(`rows of ${sessionId}`, counts.notes, callsEach + 1);
  const params = { sessionId };
  const closing = await client.send(closeSession, { params, query, body: { keepWarm } });
  const { state: end, endReason } = await awaitSession(client, closing.body, isOver);
  expectSame(`${sessionId} ended`, [end, endReason], ['CLOSED', 'requested']);
  const { body } = await client.send(listSessionRequests, { params, query: { via: 'tool' } });
  expectSame(`ledger of ${sessionId}`, body.meta.totalItems, callsEach);
};

/** Starts the clients at once. */
export const startLoad = ({ client, clients }: LoadOptions): Load => {
  const failures: string[] = [];
  let begun = 0;
  let lived = 0;
  let isOn = true;
  const use = async (): Promise<void> => {
    while (isOn) {
      begun += 1;
      try {
        await live(client, begun % freshEvery !== 0);
      } catch (error) {
        failures.push(describeError(error));
      }
      lived += 1;
    }
  };
  const used = Promise.all(Array.from({ length: clients }, use));
  return {
    async beyond(sessions) {
      const wanted = lived + sessions;
      await until(() => lived >= wanted || failures.length > 0, {
        timeoutMs: patienceMs,
        what: `${wanted} sessions lived`,
      });
    },
    async stop() {
      isOn = false;
      await used;
      return { lived, failures };
    },
  };
};
