/** Tests webhook deliveries at the control plane: read in order, awaited by long poll, and answered once each. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reap } from '#wire/pool-api/operations.ts';
import {
  answerDeliveries,
  closeSession,
  enqueueCall,
  listDeliveries,
  listSessionRequests,
  listWebhooks,
  listWorldRequests,
  openSession,
} from '#wire/public-api/operations.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { drain, gone } from '../../support/control/host-states.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let host: PlayedHost;
let sessionId: string;

beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());

beforeEach(async () => {
  host = await warmHost(control);
  sessionId = (await control.send(openSession, { body: { slug: 'notes' } })).body.id;
  await host.poll();
  await host.ready();
});
afterEach(async () => {
  await control.sql('delete from requests');
  await clearPool(control);
});

const entry = (id: number, parts: Record<string, unknown> = {}) => ({
  id,
  at: new Date(Date.UTC(2026, 0, 1) + id * 1_000).toISOString(),
  via: 'webhook',
  operation: 'note.made',
  method: 'POST',
  path: null,
  status: null,
  request: {
    url: 'https://a.example/hook',
    subscription: { id: 1 },
    generation: 0,
    headers: { 'content-type': 'application/json', 'x-signature': 'sha256=00' },
    body: { title: 'Ünï', nil: '\u0000', n: 1e21 },
    scope: null,
  },
  response: null,
  duration_ms: 0,
  changes: {},
  rows: [],
  call_id: null,
  ...parts,
});

const withRequest = (parts: Record<string, unknown>) => ({
  request: { ...entry(1).request, ...parts },
});

const read = async (query = {}, id = sessionId) =>
  (await control.read(listDeliveries, { params: { sessionId: id }, query })).body;

const answer = async (...answers: object[]) => {
  const body = { answers: answers as { sequence: number; status: number; durationMs: number }[] };
  return (await control.send(answerDeliveries, { params: { sessionId }, body })).body.data;
};

/** Takes the call that waits for the host, and answers it. */
const takeCall = async (output: unknown = {}) => {
  const { call } = await host.calls();
  if (call === undefined) throw new Error('no call waits');
  await host.answer(call.id, { output });
  return call;
};

const close = async (): Promise<void> => {
  await control.send(closeSession, { params: { sessionId }, body: {} });
  await host.calls();
  await host.closed();
};

const reapNow = async (): Promise<void> => {
  const [idleMs, maxAgeMs, provisionMs, closingMs] = [3_600_000, 86_400_000, 600_000, 600_000];
  await control.pool(reap, { body: { idleMs, maxAgeMs, provisionMs, closingMs } });
};

describe('the deliveries of a session', () => {
  it('are listed in order, with the exact text that was signed', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await host.requests([
      entry(1),
      entry(2, { via: 'api', operation: 'make_note' }),
      entry(3, { via: 'webhook-skipped', response: { reason: 'it has no URL' } }),
      entry(4, withRequest({ headers: form, body: { a: 'b c&ü' }, generation: 2 })),
      entry(5, { operation: 'note.made.answer', status: 200, request: { delivery: 1 } }),
    ]);
    const { data, meta } = await read();
    expect(meta).toEqual({ after: 4, last: 4, state: 'READY', isOver: false });
    expect(data.map(({ sequence }) => sequence)).toEqual([1, 4]);
    expect(data[0]).toEqual({
      sequence: 1,
      generation: 0,
      event: 'note.made',
      at: '2026-01-01T00:00:01.000Z',
      url: 'https://a.example/hook',
      subscription: { id: 1 },
      world: null,
      headers: { 'content-type': 'application/json', 'x-signature': 'sha256=00' },
      body: JSON.stringify(entry(1).request.body),
      answer: null,
    });
    expect(data[1]).toMatchObject({
      generation: 2,
      body: 'payload=%7B%22a%22%3A%22b+c%26%C3%BC%22%7D',
    });
    expect((await read({ after: 1 })).data.map(({ sequence }) => sequence)).toEqual([4]);
    const end = await read({ after: 2 ** 31 - 1 });
    expect([end.data, end.meta.last]).toEqual([[], 4]);
    const first = await read({ limit: 1 });
    expect([first.data.length, first.meta.after, first.meta.last]).toEqual([1, 1, 4]);
  });

  it('are listed page by page, each within the size limit', async () => {
    const large = withRequest({ body: 'x'.repeat(200_000) });
    for (let id = 1; id <= 12; id += 1) await host.requests([entry(id, large)]);
    const sizes: number[] = [];
    const seen: number[] = [];
    for (let after = 0, left = true; left; ) {
      const { data, meta } = await read({ after });
      sizes.push(JSON.stringify(data).length);
      seen.push(...data.map(({ sequence }) => sequence));
      left = data.length > 0;
      after = meta.after;
    }
    expect(seen).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
    expect(Math.max(...sizes)).toBeLessThan(1_400_000);
  });

  it('are awaited by a long poll, which returns as soon as the host reports one', async () => {
    const waiting = read({ wait: 30 });
    await host.requests([entry(1)]);
    expect((await waiting).data).toHaveLength(1);
    const next = read({ after: 1, wait: 30 });
    await close();
    expect((await next).meta).toMatchObject({ isOver: true, state: 'CLOSED', last: 1 });
  });

  it('leave out entries that cannot be sent, and continue after them', async () => {
    const odd = [
      { url: 7 },
      { headers: null },
      { headers: { host: 'inside.example' } },
      { headers: { 'x-a': 'b\r\nx-c: d' } },
      { headers: { 'bad name': 'x' } },
      { body: undefined },
    ];
    await host.requests([
      ...odd.map((parts, index) => entry(index + 1, withRequest(parts))),
      entry(7, { request: 'no object' }),
    ]);
    expect(await read()).toMatchObject({ data: [], meta: { after: 7, last: 7 } });
    await host.requests([entry(8)]);
    expect((await read({ after: 7 })).data.map(({ sequence }) => sequence)).toEqual([8]);
  });

  it('are read only for a session of the project and with a valid query', async () => {
    await expect(read({}, 'ses-none')).rejects.toMatchObject({ code: 'not_found' });
    for (const query of [{ after: -1 }, { limit: 101 }, { wait: 61 }, { page: 1 }]) {
      await expect(read(query)).rejects.toMatchObject({ code: 'invalid' });
    }
  });
});

describe('the answer of a receiver', () => {
  it('is stored once for each delivery, the first answer wins, and the host receives it', async () => {
    await host.requests([entry(1), entry(2)]);
    const [first, second] = await Promise.all([
      answer({ sequence: 1, status: 204, durationMs: 5 }),
      takeCall().then((call) => call),
    ]);
    expect(first).toMatchObject([
      { sequence: 1, kept: true, answer: { status: 204, reason: null, sender: 'listen' } },
    ]);
    expect(second).toMatchObject({
      kind: 'webhook-answers',
      input: {
        answers: [
          {
            delivery: 1,
            event: 'note.made',
            status: 204,
            reason: null,
            sender: 'listen',
            durationMs: 5,
          },
        ],
      },
    });
    expect(await answer({ sequence: 1, status: 500, durationMs: 1 })).toMatchObject([
      { kept: false, answer: { status: 204 } },
    ]);
    expect((await read()).data.map((delivery) => delivery.answer?.status ?? null)).toEqual([
      204,
      null,
    ]);
  });

  it('is recorded as missing, with the reason, if the receiver did not answer', async () => {
    await host.requests([entry(1)]);
    const reason = 'no answer within 60 s\u0000';
    const [result] = await Promise.all([
      answer({ sequence: 1, status: 0, reason, durationMs: 60_000 }),
      takeCall(),
    ]);
    expect(result).toMatchObject([
      { kept: true, answer: { status: 0, reason: 'no answer within 60 s\ufffd' } },
    ]);
  });

  it('is refused for an unknown delivery, and if it is malformed', async () => {
    await host.requests([entry(1), entry(2, { via: 'api' })]);
    for (const sequence of [2, 9]) {
      await expect(answer({ sequence, status: 200, durationMs: 1 })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining(`no delivery ${sequence}`),
      });
    }
    const odd = [
      { sequence: 0, status: 200, durationMs: 1 },
      { sequence: 1, status: 1_000, durationMs: 1 },
      { sequence: 1, status: 200, durationMs: -1 },
      { sequence: 1, status: 200, durationMs: 1, color: 'red' },
    ];
    for (const one of odd) await expect(answer(one)).rejects.toMatchObject({ code: 'invalid' });
    await expect(answer()).rejects.toMatchObject({ code: 'invalid' });
    expect((await read()).data[0]?.answer).toBeNull();
  });

  it('is written to the ledger of a session that ended before the host could write the answer', async () => {
    await host.requests([entry(1), entry(2)]);
    await close();
    await answer(
      { sequence: 1, status: 200, durationMs: 1 },
      { sequence: 2, status: 0, reason: 'refused', durationMs: 2 },
    );
    const listed = async () =>
      (
        await control.read(listSessionRequests, {
          params: { sessionId },
          query: { via: 'webhook' },
        })
      ).body;
    const { data, meta } = await listed();
    expect(data.map(({ id, operation, status }) => [id, operation, status])).toEqual([
      [1, 'note.made', null],
      [2, 'note.made', null],
      [3, 'note.made.answer', 200],
      [4, 'note.made.answer', 0],
    ]);
    expect(meta.dropped).toBe(0);
    expect(data[3]).toMatchObject({ request: { delivery: 2 }, response: { reason: 'refused' } });
  });

  it('is added to the ledger by the next reap if the host received the answer but closed before recording it', async () => {
    await host.requests([entry(1)]);
    await Promise.all([answer({ sequence: 1, status: 200, durationMs: 1 }), takeCall()]);
    await close();
    await reapNow();
    const { data } = (
      await control.read(listSessionRequests, { params: { sessionId }, query: { via: 'webhook' } })
    ).body;
    expect(data.map(({ id, operation }) => [id, operation])).toEqual([
      [1, 'note.made'],
      [2, 'note.made.answer'],
    ]);
  });

  it('waits while the host of a lost session may still deliver entries', async () => {
    await host.requests([entry(1)]);
    await drain(control, host, 'silent');
    await answer({ sequence: 1, status: 200, durationMs: 1 });
    await host.requests([entry(2, { operation: 'note.late' })]);
    await gone(control, host);
    await reapNow();
    const { data } = (
      await control.read(listSessionRequests, { params: { sessionId }, query: { via: 'webhook' } })
    ).body;
    expect(data.map(({ id, operation }) => [id, operation])).toEqual([
      [1, 'note.made'],
      [2, 'note.late'],
      [3, 'note.made.answer'],
    ]);
  });

  it('is sent to a host again until the host has written it to the ledger', async () => {
    await host.requests([entry(1)]);
    await Promise.all([answer({ sequence: 1, status: 200, durationMs: 1 }), takeCall()]);
    await control.sql(`update delivery_answers set told_at = now() - interval '1 minute'`);
    await reapNow();
    expect((await takeCall()).kind).toBe('webhook-answers');
    const result = { operation: 'note.made.answer', status: 200, request: { delivery: 1 } };
    await host.requests([entry(2, result)]);
    const [row] = await control.sql<{ entryId: number }>(
      'select entry_id as "entryId" from delivery_answers',
    );
    expect(row).toEqual({ entryId: 2 });
    const byStatus = {
      query: { via: 'webhook' as const, operation: 'note.made.answer', status: 200 },
    };
    const { body } = await control.read(listWorldRequests, {
      params: { slug: 'notes' },
      ...byStatus,
    });
    expect(body.data).toHaveLength(1);
  });
});

describe('the webhook subscriptions of a session', () => {
  const list = async (query = {}) =>
    (await control.read(listWebhooks, { params: { sessionId }, query })).body;

  it('are those that its host returns', async () => {
    const output = { data: [], meta: { total: 0, lastDelivery: 0 } };
    const [listed, call] = await Promise.all([list({ offset: 3 }), takeCall(output)]);
    expect(listed).toEqual(output);
    expect(call).toMatchObject({ kind: 'webhooks', input: { offset: 3, limit: 50 } });
  });

  it('are refused if the answer of the host is invalid', async () => {
    for (const output of [{}, { data: 7, meta: {} }, 'x'.repeat(3_000_000)]) {
      const [listed] = await Promise.allSettled([list(), takeCall(output)]);
      expect(listed).toMatchObject({
        status: 'rejected',
        reason: { code: 'unavailable', message: expect.stringContaining('did not answer') },
      });
    }
  });

  it('cannot be requested by a call of a client', async () => {
    for (const kind of ['webhooks', 'webhook-answers']) {
      const body = { kind: kind as 'state' };
      await expect(
        control.send(enqueueCall, { params: { sessionId }, body }),
      ).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  it('cannot be read after the session has ended, and the error names where its deliveries are', async () => {
    await close();
    await expect(list()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`/world-sessions/${sessionId}/requests?via=webhook`),
    });
  });
});
