/** Tests calls: their order, their single execution, their answers and their end states. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { reportLeaving } from '#wire/host-api/operations.ts';
import {
  closeSession,
  enqueueCall,
  getCall,
  getSession,
  listCalls,
  openSession,
} from '#wire/public-api/operations.ts';
import type { CallRequest, CallView } from '#wire/public-api/sessions/call.ts';
import type { StartedControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { startNotesControl } from '../../support/control/own-control.ts';

let control: StartedControl;
let sessionId: string;
let host: PlayedHost;

beforeAll(async () => {
  control = await startNotesControl();
});

beforeEach(async () => {
  host = await warmHost(control);
  const opened = await control.send(openSession, { body: { slug: 'notes' } });
  sessionId = opened.body.id;
  await host.poll();
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

const list: CallRequest = { kind: 'tool', name: 'list_notes', input: { limit: 1 } };

const enqueue = async (body: CallRequest = list, wait = 0, headers = {}): Promise<CallView> =>
  (await control.send(enqueueCall, { params: { sessionId }, body, query: { wait }, headers })).body;

const read = async (callId: string, wait = 0): Promise<CallView> =>
  (await control.read(getCall, { params: { sessionId, callId }, query: { wait } })).body;

const close = () => control.send(closeSession, { params: { sessionId }, body: {} });

describe('a call', () => {
  it('waits while the session is provisioning, and is the first call that the host receives', async () => {
    const { status, body } = await control.send(enqueueCall, {
      params: { sessionId },
      body: list,
      query: {},
    });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      sessionId,
      seq: 1,
      kind: 'tool',
      name: 'list_notes',
      input: { limit: 1 },
      state: 'queued',
      output: null,
      error: null,
      changes: {},
      claimedAt: null,
      answeredAt: null,
    });
    const directive = await host.ready();
    expect(directive.call).toEqual({
      id: body.id,
      seq: 1,
      kind: 'tool',
      name: 'list_notes',
      input: { limit: 1 },
    });
    expect((await read(body.id)).state).toBe('claimed');
  });

  it('is delivered at once to a polling host, and its answer to the waiting client', async () => {
    await host.ready();
    const polling = host.calls(10);
    const calling = control.send(enqueueCall, {
      params: { sessionId },
      body: list,
      query: { wait: 10 },
    });
    const { call } = await polling;
    expect((await read(call?.id ?? '')).state).toBe('claimed');
    const changes = { notes: { inserted: 1, updated: 0, deleted: 0 } };
    await host.answer(call?.id ?? '', { output: [{ id: 1 }], changes });
    const { status, body } = await calling;
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: call?.id, state: 'succeeded', output: [{ id: 1 }], changes });
    expect(await read(body.id)).toEqual(body);
  });

  it('fails with the error that the host posts', async () => {
    await host.ready();
    const { id } = await enqueue();
    await host.calls();
    const error = { code: 'raised', message: 'no such note', details: { trace: ['tools.py:3'] } };
    await host.answer(id, { error });
    expect(await read(id)).toMatchObject({ state: 'failed', output: null, error });
  });

  it('may contain texts that PostgreSQL cannot store, which are returned unchanged', async () => {
    await host.ready();
    const input = { text: 'a\u0000b\ud800c', order: { z: 1, a: 2 } };
    const { id } = await enqueue({ kind: 'tool', name: 'list_notes', input });
    const { call } = await host.calls();
    expect(call?.input).toEqual(input);
    await host.answer(id, { output: input });
    expect(JSON.stringify((await read(id)).output)).toBe(JSON.stringify(input));
  });

  it('is delivered in order, each in reply to the answer of the previous call', async () => {
    await host.ready();
    const calls = [];
    for (let i = 0; i < 3; i += 1) calls.push(await enqueue());
    expect(calls.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    const first = await host.calls();
    expect(first.call?.id).toBe(calls[0]?.id);
    const second = await host.answer(calls[0]?.id ?? '', { output: 1 });
    expect(second.call?.id).toBe(calls[1]?.id);
    const held = host.answer(calls[1]?.id ?? '', { output: 2 }, 10);
    expect((await held).call?.id).toBe(calls[2]?.id);
    expect(await host.answer(calls[2]?.id ?? '', { output: 3 })).toEqual({});
  });

  it('has a sequence number of its own and runs once when many clients enqueue calls concurrently', async () => {
    await host.ready();
    const count = 30;
    const calling = Promise.all(Array.from({ length: count }, () => enqueue(list, 20)));
    const seen: number[] = [];
    let directive = await host.calls(10);
    while (seen.length < count) {
      const call = directive.call;
      if (call === undefined) {
        directive = await host.calls(10);
        continue;
      }
      seen.push(call.seq);
      directive = await host.answer(call.id, { output: call.seq }, seen.length < count ? 10 : 0);
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    const calls = await calling;
    expect(calls.every(({ state, seq, output }) => state === 'succeeded' && output === seq)).toBe(
      true,
    );
  });

  it('is delivered in reply to a request that posts an answer and long-polls for the next call', async () => {
    await host.ready();
    const { id } = await enqueue();
    await host.calls();
    const held = host.answer(id, { output: null }, 10);
    const next = await enqueue();
    expect((await held).call?.id).toBe(next.id);
  });

  it('is created once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'call-once' };
    const [first, second] = await Promise.all([
      enqueue(list, 0, headers),
      enqueue(list, 0, headers),
    ]);
    expect(second.id).toBe(first.id);
    await expect(enqueue({ kind: 'reset' }, 0, headers)).rejects.toMatchObject({
      code: 'conflict',
    });
    const { body } = await control.read(listCalls, { params: { sessionId } });
    expect(body.data).toHaveLength(1);
  });

  it('is listed oldest first, by page', async () => {
    for (let i = 0; i < 3; i += 1) await enqueue();
    const query = { limit: 2, page: 2 };
    const { body } = await control.read(listCalls, { params: { sessionId }, query });
    expect(body.data.map(({ seq }) => seq)).toEqual([3]);
    expect(body.meta).toEqual({ page: 2, limit: 2, totalItems: 3, totalPages: 2 });
  });
});

describe('a call with at-most-once execution', () => {
  it('is delivered again to the host generation that claimed it, unless that has answered', async () => {
    await host.ready();
    const { id } = await enqueue();
    await enqueue();
    expect((await host.calls()).call?.id).toBe(id);
    expect((await host.calls()).call?.id).toBe(id);
  });

  it('accepts a repeated answer and keeps the first one', async () => {
    await host.ready();
    const { id } = await enqueue();
    await host.calls();
    await host.answer(id, { output: 'first' });
    expect(await host.answer(id, { output: 'second' })).toEqual({});
    expect((await read(id)).output).toBe('first');
  });

  it('refuses an answer from another generation', async () => {
    await host.ready();
    const { id } = await enqueue();
    await host.calls();
    host.generation -= 1;
    await expect(host.answer(id, { output: 1 })).rejects.toMatchObject({ code: 'conflict' });
    await expect(host.calls(0)).rejects.toMatchObject({ code: 'conflict' });
    host.generation += 1;
    expect((await read(id)).state).toBe('claimed');
  });

  it('refuses an answer from another host', async () => {
    await host.ready();
    const { id } = await enqueue();
    await host.calls();
    const other = await warmHost(control);
    other.assignment = host.assignment;
    other.generation = host.generation;
    await expect(other.answer(id, { output: 1 })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('refuses an answer to an unknown call, and to one that is not assigned to a host', async () => {
    await host.ready();
    await expect(host.answer('call-none', { output: 1 })).rejects.toMatchObject({
      code: 'not_found',
    });
    const { id } = await enqueue();
    await expect(host.answer(id, { output: 1 })).rejects.toMatchObject({ code: 'conflict' });
    expect((await read(id)).state).toBe('queued');
  });

  it('refuses an answer that is both an output and an error', async () => {
    await host.ready();
    const { id } = await enqueue();
    await host.calls();
    const both = { output: 1, error: { code: 'x', message: 'y' } };
    await expect(host.answer(id, both)).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('a host that stops during calls', () => {
  it('receives its claimed call once more without delay, and no new one', async () => {
    await host.ready();
    const first = await enqueue();
    const second = await enqueue();
    expect(await host.calls(10, true)).toEqual({});
    await host.calls();
    expect((await host.calls(10, true)).call?.id).toBe(first.id);
    expect(await host.answer(first.id, { output: 1 }, 10, true)).toEqual({});
    expect(await host.answer(first.id, { output: 1 }, 10, true)).toEqual({});
    expect((await read(second.id)).state).toBe('queued');
  });

  it('receives the call from a reply that was lost', async () => {
    await host.ready();
    const first = await enqueue();
    const second = await enqueue();
    await host.calls();
    await host.answer(first.id, { output: 1 });
    const last = await host.answer(first.id, { output: 1 }, 10, true);
    expect(last.call?.id).toBe(second.id);
    expect(await host.answer(second.id, { output: 2 }, 10, true)).toEqual({});
    expect((await read(second.id)).output).toBe(2);
  });

  it('leaves queued calls to be cancelled', async () => {
    await host.ready();
    const first = await enqueue();
    const second = await enqueue();
    await host.calls();
    await host.answer(first.id, { output: 1 }, 0, true);
    const { id: hostId, generation } = host;
    await host.send(reportLeaving, { params: { hostId }, body: { generation } });
    expect((await read(second.id)).state).toBe('cancelled');
  });
});

describe('the refusal of a call', () => {
  const refusals: [string, CallRequest, RegExp][] = [
    ['an unknown tool', { kind: 'tool', name: 'list_note' }, /did you mean "list_notes"/],
    ['no tool', { kind: 'tool' }, /name the tool/],
    ['a name on something else', { kind: 'reset', name: 'list_notes' }, /has no name/],
  ];

  it.each(refusals)('names the field for %s', async (_, body, message) => {
    await expect(enqueue(body)).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path: ['name'], message: expect.stringMatching(message) }],
    });
  });

  it('names the state of a session that accepts no calls', async () => {
    await close();
    await expect(enqueue()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('CLOSING'),
      detail: { state: 'CLOSING' },
    });
  });

  it('names the quota when too many calls are queued', async () => {
    await control.sql('update sessions set open_calls = 1000 where id = $1', [sessionId]);
    await expect(enqueue()).rejects.toMatchObject({ code: 'exhausted' });
    await control.sql('update sessions set open_calls = 0 where id = $1', [sessionId]);
  });

  it('is the only result besides acceptance when 1,050 calls are sent at once', async () => {
    const burst = Array.from({ length: 1_050 }, () =>
      control.raw({
        method: 'POST',
        path: `/api/public/world-sessions/${sessionId}/calls`,
        headers: {
          authorization: basicAuthorization(control.publicKey, control.secretKey),
          'content-type': 'application/json',
        },
        body: JSON.stringify(list),
      }),
    );
    const statuses = (await Promise.all(burst)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(1_000);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  });

  it('is not_found for a session that does not exist', async () => {
    const params = { sessionId: 'ses-none' };
    await expect(
      control.send(enqueueCall, { params, body: list, query: {} }),
    ).rejects.toMatchObject({ code: 'not_found' });
    await expect(control.send(listCalls, { params })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the end of a session', () => {
  it('cancels queued calls and lets the running call finish', async () => {
    await host.ready();
    const running = await enqueue();
    const waiting = await enqueue();
    await host.calls();
    const held = read(waiting.id, 10);
    await close();
    expect(await held).toMatchObject({ state: 'cancelled', error: { code: 'session_ended' } });
    const next = await host.answer(running.id, { output: 'done' });
    expect(next).toEqual({ close: { keepWarm: false } });
    expect((await read(running.id)).state).toBe('succeeded');
    await host.closed();
  });

  it('marks a call that the host claimed and did not answer as lost', async () => {
    await host.ready();
    const running = await enqueue();
    await host.calls();
    await close();
    await host.closed();
    expect(await read(running.id)).toMatchObject({
      state: 'lost',
      error: { code: 'session_ended' },
    });
  });

  it('can be requested by a call of kind close, which also keeps the host warm', async () => {
    await host.ready();
    const closing = await enqueue({ kind: 'close', input: { keepWarm: true } });
    const waiting = await enqueue();
    await host.calls();
    expect(await host.answer(closing.id, { output: {} })).toEqual({
      close: { keepWarm: true, together: true },
    });
    expect((await read(waiting.id)).state).toBe('cancelled');
    const { body } = await control.read(getSession, { params: { sessionId } });
    expect(body).toMatchObject({ state: 'CLOSING', endReason: 'requested' });
    expect(await host.closed()).toBe('recycle');
  });

  it('does not follow from a close call that failed', async () => {
    await host.ready();
    const closing = await enqueue({ kind: 'close' });
    await host.calls();
    expect(await host.answer(closing.id, { error: { code: 'x', message: 'y' } })).toEqual({});
    const { body } = await control.read(getSession, { params: { sessionId } });
    expect(body.state).toBe('READY');
  });
});
