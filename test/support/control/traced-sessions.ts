/** Sessions on simulated hosts, and their telemetry in the traces of their project. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { until } from '#runtime/pause.ts';
import { enqueueCall, getTrace, openSession } from '#wire/public-api/operations.ts';
import { clearPool, type PlayedHost, warmHost } from './host.ts';
import { type OwnControl, startNotesControl } from './own-control.ts';

const task = { name: 'add a note', instruction: 'Add one note.' };

type Opening = { headers?: { traceparent: string }; body?: object; on?: PlayedHost };

/** Returns the time that is this many seconds after the beginning of the year that the tests use. */
export const at = (seconds: number): string =>
  new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

/** Builds a ledger entry as a host writes it. */
export const entry = (id: number, parts: Record<string, unknown> = {}) => ({
  id,
  at: at(id),
  via: 'api',
  operation: 'list_notes',
  method: 'GET',
  path: '/notes',
  status: 200,
  request: { query: {}, headers: {}, body: null },
  response: { body: [{ id: 1 }], reason: null },
  duration_ms: 20,
  changes: {},
  rows: [],
  call_id: null,
  ...parts,
});

/** Builds the ledger entry of a call. */
export const entryOfCall = (id: number, callId: string, parts: Record<string, unknown> = {}) =>
  entry(id, {
    ...{ via: 'tool', method: null, path: null, status: null, call_id: callId },
    ...{ request: { title: 'a' }, response: { output: { id: 1 } } },
    ...parts,
  });

/** Builds a host's answer to a grade call. */
export const gradeOf = (verdict: string, checks: object[]) => ({
  output: { verdict, passed: verdict === 'pass', score: verdict === 'pass' ? 1 : 0.5, checks },
});

/** Builds a check of a grade. */
export const check = (name: string, verdict: string) => ({
  ...{ name, verdict, passed: verdict === 'pass', expected: 1, found: 2, detail: `${name} it is` },
});

/** Sets up a control plane with one warm host for each test. */
export const playTracedSessions = () => {
  let control: OwnControl;
  let host: PlayedHost;

  beforeAll(async () => {
    control = await startNotesControl();
  });
  afterAll(() => control.stop());
  beforeEach(async () => {
    host = await warmHost(control);
  });
  afterEach(() => clearPool(control));

  const open = async ({ headers = undefined, body = {}, on = host }: Opening = {}) => {
    const opened = await control.send(openSession, {
      ...(headers === undefined ? {} : { headers }),
      body: { slug: 'notes', task, ...body },
    });
    await on.poll();
    await on.ready();
    return opened.body;
  };

  /** Makes and answers a call, and returns its id. */
  const call = async (
    sessionId: string,
    body: { kind: 'tool' | 'grade' | 'reset'; name?: string },
    answer: object,
    headers?: { traceparent: string },
  ): Promise<string> => {
    const params = { sessionId };
    const sent = { params, body, ...(headers === undefined ? {} : { headers }) };
    const { id } = (await control.send(enqueueCall, sent)).body;
    await host.calls(0);
    await host.answer(id, answer);
    return id;
  };

  /** Waits until the outbox of trace reports is empty. */
  const reported = () =>
    until(
      async () => {
        const [row] = await control.sql<{ waiting: number }>(
          'select count(*)::int as waiting from trace_dues',
        );
        return row?.waiting === 0;
      },
      { timeoutMs: 20_000, what: 'a report of every session' },
    );

  const read = async (id: string | null) => {
    await reported();
    return (await control.send(getTrace, { params: { traceId: id ?? '' } })).body;
  };

  const named = (trace: Awaited<ReturnType<typeof read>>, name: string) => {
    const found = trace.observations.filter((one) => one.name === name);
    expect(found.map(({ name: each }) => each)).toEqual([name]);
    return found[0];
  };

  return {
    get control() {
      return control;
    },
    get host() {
      return host;
    },
    open,
    call,
    reported,
    read,
    named,
  };
};
