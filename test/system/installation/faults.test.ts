/**
 * Each program is killed at a bad moment, on real processes. Afterwards no call has two answers, no
 * session has two hosts, no process is left, and everything works again within 15 seconds.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { listSessionRequests } from '#wire/public-api/operations.ts';
import {
  call,
  close,
  createNotes,
  enqueue,
  open,
  readCall,
  readSession,
} from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import {
  type FoundProcess,
  killNaming,
  processesNaming,
} from '../../support/programs/processes.ts';

const healMs = 15_000;
let database: TestDatabase;
let network: Network;

beforeEach(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: 2 });
  await createNotes(network.client);
  await network.warm(2);
});

afterEach(async () => {
  await network.stop();
  const left = processesNaming(network.installation);
  await database.drop();
  expect(left).toEqual([]);
});

const slowCall = async (sessionId: string, milliseconds: number) => {
  const queued = await enqueue(network.client, sessionId, {
    kind: 'tool',
    name: 'count_slowly',
    input: { milliseconds, note_id: 50 },
  });
  await until(
    async () => (await readCall(network.client, sessionId, queued.id)).state === 'claimed',
    { timeoutMs: 30_000, what: 'the call claimed' },
  );
  return queued.id;
};

const finalCall = (sessionId: string, callId: string) =>
  until(
    async () => {
      const found = await readCall(network.client, sessionId, callId);
      return found.answeredAt !== null || found.state === 'lost' ? found : undefined;
    },
    { timeoutMs: healMs, what: 'the call final' },
  );

const hostOf = async (sessionId: string) => {
  const host = (await network.hosts()).find((candidate) => candidate.session_id === sessionId);
  if (host === undefined) throw new Error(`no host serves ${sessionId}`);
  return host;
};

/** True for the host's own process, false for the processes of its sandbox. */
const isHostItself = ({ commandLine }: FoundProcess): boolean =>
  !commandLine.includes('bwrap') && commandLine.includes('world-host-image/main.');

/** Opens, calls and closes a session, to check that the service works. */
const proveWorking = async () => {
  const session = await open(network.client, { slug: 'notes' });
  expect(session).toMatchObject({ state: 'READY', ready: true });
  const listed = await call(network.client, session.id, { kind: 'tool', name: 'list_notes' });
  expect(listed).toMatchObject({ state: 'succeeded', output: [{ id: 1 }] });
  expect(await close(network.client, session.id)).toMatchObject({ state: 'CLOSED' });
};

describe('a world host killed during a running call', () => {
  it('loses the call and the session with the reason, and the pool recovers', async () => {
    const session = await open(network.client, { slug: 'notes' });
    const callId = await slowCall(session.id, 60_000);
    const host = await hostOf(session.id);
    const [victim] = processesNaming(`--host=${host.id}`);
    process.kill(victim?.pid ?? 0, 'SIGKILL');

    expect(await finalCall(session.id, callId)).toMatchObject({ state: 'lost', output: null });
    expect(await readSession(network.client, session.id)).toMatchObject({
      state: 'FAILED',
      endReason: 'host_lost',
    });
    await proveWorking();
    await network.warm(2);
    await until(() => processesNaming(host.id).length === 0, {
      timeoutMs: healMs,
      what: 'no process of the lost host',
    });
  });
});

describe('a world host that dies while its session lives', () => {
  const endOf = async (signal: NodeJS.Signals) => {
    const session = await open(network.client, { slug: 'notes' });
    const host = await hostOf(session.id);
    const victim = processesNaming(`--host=${host.id}`).find(isHostItself);
    process.kill(victim?.pid ?? 0, signal);
    const { endReason, error } = await until(
      async () => {
        const found = await readSession(network.client, session.id);
        return found.state === 'FAILED' ? found : undefined;
      },
      { timeoutMs: healMs, what: 'the session over' },
    );
    const [row] = await network.sql<{ detail: string }>(
      'select end_detail as detail from hosts where id = $1',
      [host.id],
    );
    return { endReason, error, wrote: row?.detail };
  };

  it('ends its session with the reason as a sentence, and shows operators its last output', async () => {
    // V8 ends a process with a full heap like this.
    const { endReason, error, wrote } = await endOf('SIGABRT');
    expect({ endReason, code: error?.code }).toEqual({
      endReason: 'out_of_memory',
      code: 'out_of_memory',
    });
    expect(error?.message).toContain('its heap was full');
    expect(error?.message).not.toContain('"msg":"serving"');
    expect(wrote).toContain('"msg":"serving"');
  });

  it('ends its session in the same way when only the signal is known', async () => {
    const { endReason, error, wrote } = await endOf('SIGKILL');
    expect(endReason).toBe('host_lost');
    expect(error?.message).toContain('ended by SIGKILL');
    expect(error?.message).not.toContain('"msg":"serving"');
    expect(wrote).toContain('"msg":"serving"');
  });
});

describe('a world host that gets SIGTERM during a running call', () => {
  it('answers the call and delivers its ledger, and the session ends as reclaimed', async () => {
    const session = await open(network.client, { slug: 'notes' });
    const callId = await slowCall(session.id, 1_000);
    const host = await hostOf(session.id);
    const result = processesNaming(`--host=${host.id}`).find(isHostItself);
    process.kill(result?.pid ?? 0, 'SIGTERM');

    expect(await finalCall(session.id, callId)).toMatchObject({ state: 'succeeded', output: 2 });
    const ended = await until(
      async () => {
        const found = await readSession(network.client, session.id);
        return found.state === 'FAILED' ? found : undefined;
      },
      { timeoutMs: healMs, what: 'the session over' },
    );
    expect(ended).toMatchObject({ endReason: 'reclaimed', error: { code: 'reclaimed' } });
    const params = { sessionId: session.id };
    const { body } = await network.client.send(listSessionRequests, { params });
    expect(body.data).toMatchObject([{ operation: 'count_slowly', callId }]);
    await network.warm(2);
  });
});

describe('a killed orchestrator', () => {
  it('leaves sessions working, and its successor adopts the hosts', async () => {
    const session = await open(network.client, { slug: 'notes' });
    const before = (await network.hosts()).map((host) => host.id);
    await network.orchestrator.end('SIGKILL');

    const added = await call(network.client, session.id, {
      kind: 'tool',
      name: 'create_notes',
      input: { id: 2, folder_id: 1, title: 'without an orchestrator', done: false },
    });
    expect(added.state).toBe('succeeded');

    await network.restartOrchestrator();
    await network.warm(2);
    const after = (await network.hosts()).map((host) => host.id);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(await close(network.client, session.id)).toMatchObject({ state: 'CLOSED' });
    await proveWorking();
  });

  it('is followed by one that fails sessions whose host died meanwhile, and refills the pool', async () => {
    const session = await open(network.client, { slug: 'notes' });
    const host = await hostOf(session.id);
    await network.orchestrator.end('SIGKILL');
    killNaming(`--host=${host.id}`);
    await network.restartOrchestrator();
    await until(async () => (await readSession(network.client, session.id)).state === 'FAILED', {
      timeoutMs: healMs,
      what: 'the end of the session with its host',
    });
    await network.warm(2);
    await proveWorking();
  });
});

describe('a control plane that is killed during a running call', () => {
  it('runs the call once, and its single answer arrives after the restart', async () => {
    const session = await open(network.client, { slug: 'notes' });
    const callId = await slowCall(session.id, 1_500);
    await network.control.end('SIGKILL');
    await network.restartControl();

    expect(await finalCall(session.id, callId)).toMatchObject({ state: 'succeeded', output: 2 });
    const state = await call(network.client, session.id, { kind: 'state', input: {} });
    expect(state.output).toMatchObject({ counts: { notes: 2 } });
    expect((await network.hosts()).filter((host) => host.session_id === session.id)).toHaveLength(
      1,
    );
    await proveWorking();
  });

  it('loses no acknowledged call when it is killed before the host has received it', async () => {
    const session = await open(network.client, { slug: 'notes' });
    const first = await slowCall(session.id, 1_000);
    const second = await enqueue(network.client, session.id, {
      kind: 'tool',
      name: 'create_notes',
      input: { id: 51, folder_id: 1, title: 'acknowledged', done: true },
    });
    await network.control.end('SIGKILL');
    await network.restartControl();
    expect(await finalCall(session.id, first)).toMatchObject({ state: 'succeeded' });
    expect(await finalCall(session.id, second.id)).toMatchObject({ state: 'succeeded' });
  });
});
