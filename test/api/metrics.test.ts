/** What a control plane tells of itself: numbers that follow what its callers did. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reap } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  createWorld,
  enqueueCall,
  openSession,
} from '#wire/public-api/operations.ts';
import { startTestControl, type TestControl } from '../support/control.ts';
import { warmHost } from '../support/host.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { encodeTree, notesWorld } from '../support/worlds.ts';

let database: TestDatabase;
let control: TestControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const read = async (path: string): Promise<string> =>
  (await fetch(`${control.running.metricsAddresses[0]}${path}`)).text();

/** The value of a metric by its name with labels; undefined when it is not told. */
const numberOf = (metrics: string, name: string): number | undefined => {
  const line = metrics.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
};

describe('the metrics of a control plane', () => {
  it('tell of opens, calls and ends', async () => {
    const host = await warmHost(control);
    const open = () => control.send(openSession, { body: { slug: 'notes' } });
    const first = (await open()).body.id;
    const second = (await open()).body.id;
    await expect(control.send(openSession, { body: { slug: 'none' } })).rejects.toThrow();
    const before = await read('/metrics');
    expect(numberOf(before, 'svc_session_opens_total{outcome="claimed"}')).toBe(1);
    expect(numberOf(before, 'svc_session_opens_total{outcome="waiting"}')).toBe(1);
    expect(numberOf(before, 'svc_session_opens_total{outcome="refused"}')).toBe(1);
    expect(numberOf(before, 'svc_session_claim_seconds_count{start="warm"}')).toBe(1);
    expect(numberOf(before, 'svc_sessions_waiting')).toBe(1);
    expect(numberOf(before, 'svc_sessions_longest_wait_seconds')).toBeGreaterThan(0);
    expect(numberOf(before, 'svc_sessions{state="PROVISIONING"}')).toBe(2);
    expect(numberOf(before, 'svc_database_up')).toBe(1);

    await host.poll();
    await host.ready();
    const params = { sessionId: first };
    const { id } = (await control.send(enqueueCall, { params, body: { kind: 'state' } })).body;
    await host.calls();
    await host.answer(id, { output: {} });
    await control.send(closeSession, { params: { sessionId: second }, body: {} });
    await control.send(enqueueCall, { params, body: { kind: 'state' } });
    await control.pool(reap, {
      body: { idleMs: 1_000_000, maxAgeMs: 1_000_000, provisionMs: 1_000, closingMs: 1_000 },
    });
    const after = await read('/metrics');
    expect(numberOf(after, 'svc_session_ready_seconds_count{start="warm"}')).toBe(1);
    expect(numberOf(after, 'svc_session_load_seconds_count{start="warm"}')).toBe(1);
    expect(numberOf(after, 'svc_calls_total{kind="state",state="succeeded"}')).toBe(1);
    expect(numberOf(after, 'svc_call_run_seconds_count{kind="state"}')).toBe(1);
    expect(numberOf(after, 'svc_calls_queued')).toBe(1);
    expect(numberOf(after, 'svc_session_ends_total{reason="requested"}')).toBe(1);
    expect(numberOf(after, 'svc_http_requests_total{operation="reap",status="200"}')).toBe(1);
    expect(numberOf(after, 'svc_compile_jobs{state="queued"}')).toBe(0);
    expect(numberOf(after, 'svc_database_connections{state="used"}')).toBeDefined();
  });

  it('carry no id in any label', async () => {
    expect(await read('/metrics')).not.toMatch(/\{[^}]*(ses|hst|call|ver)-[^}]*\}/);
  });

  it('come with what its loops did last', async () => {
    const { program, loops } = JSON.parse(await read('/status'));
    expect(program).toBe('control');
    expect(loops.map(({ name }: { name: string }) => name)).toContain('listen');
  });
});
