/** Tests which requests are repeated and which are not, with a client whose failures the test sets. */
import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import type { Client } from './client.ts';
import {
  closeSession,
  enqueueCall,
  getCall,
  openSession,
  updateTask,
} from './public-api/operations.ts';
import { retrying } from './retry.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
const reset = Object.assign(new Error('read ECONNRESET'), { syscall: 'read' });
const noAnswer = (cause: Error) => new AppError('unavailable', 'no answer', { cause });
const answered = (status: number) =>
  new AppError('unavailable', 'away', { detail: { status, retryAfterMs: 1 } });

const params = { sessionId: 'ses-1' };
const enqueue = { params, body: { kind: 'state' as const } };
const update = { params: { taskId: 'tsk-1' }, body: { name: 'a' } };

/** Returns a client that fails with these errors in turn, and answers all further requests. */
const failing = (failures: (Error | undefined)[], forMs = 60_000) => {
  const keys: unknown[] = [];
  const send = async (_: unknown, { headers }: { headers?: Record<string, string> }) => {
    keys.push(headers?.['idempotency-key']);
    const failure = failures[keys.length - 1];
    if (failure !== undefined) throw failure;
    return { status: 200, body: {} };
  };
  const client = retrying({ baseUrl: '', send } as unknown as Client, { forMs });
  return { client, keys };
};

describe('a client that repeats', () => {
  it('sends again, with one key of its own, what takes a key', async () => {
    const { client, keys } = failing([noAnswer(reset), answered(503), answered(502)]);
    await client.send(enqueueCall, enqueue);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    await client.send(enqueueCall, enqueue);
    expect(keys[4]).not.toBe(keys[0]);
  });

  it('gives a key to every operation that takes one', async () => {
    const { client, keys } = failing([noAnswer(reset), undefined, noAnswer(reset)]);
    await client.send(openSession, { body: { slug: 'notes' } });
    await client.send(enqueueCall, enqueue);
    expect(keys.map((key) => typeof key)).toEqual(['string', 'string', 'string', 'string']);
  });

  it("keeps the caller's own key", async () => {
    const { client, keys } = failing([noAnswer(reset)]);
    await client.send(enqueueCall, { ...enqueue, headers: { 'idempotency-key': 'mine' } });
    expect(keys).toEqual(['mine', 'mine']);
  });

  it('sends reads and removals again', async () => {
    const { client, keys } = failing([noAnswer(reset), undefined, noAnswer(reset)]);
    await client.send(getCall, { params: { ...params, callId: 'call-1' } });
    await client.send(closeSession, { params, body: {} });
    expect(keys).toHaveLength(4);
  });

  it('does not send again what may have been done', async () => {
    for (const failure of [noAnswer(reset), answered(503)]) {
      const { client, keys } = failing([failure]);
      await expect(client.send(updateTask, update)).rejects.toBe(failure);
      expect(keys).toHaveLength(1);
    }
  });

  it('waits for a server that was reached and broke off', async () => {
    const { client, keys } = failing([noAnswer(reset), noAnswer(refused), noAnswer(refused)]);
    await client.send(enqueueCall, enqueue);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
  });

  it('sends again what never left, to a server that has answered before', async () => {
    const { client, keys } = failing([undefined, noAnswer(refused)]);
    await client.send(getCall, { params: { ...params, callId: 'call-1' } });
    await client.send(updateTask, update);
    expect(keys).toHaveLength(3);
  });

  it('does not wait for a server that was never there', async () => {
    const both = new AggregateError([refused, refused]);
    const { client, keys } = failing([noAnswer(both)]);
    await expect(client.send(enqueueCall, enqueue)).rejects.toThrow('no answer');
    expect(keys).toHaveLength(1);
  });

  it('comes again to a server that had too much to do, and not when its own quota is used up', async () => {
    const detail = { status: 429, retryAfterMs: 1 };
    const busy = new AppError('exhausted', 'too much', { detail });
    const { client, keys } = failing([busy, busy]);
    await client.send(closeSession, { params, body: {} });
    await client.send(openSession, { body: { slug: 'notes' } });
    expect(keys).toHaveLength(4);
    const usedUp = new AppError('exhausted', 'no', { detail: { ...detail, quota: 'sessions' } });
    const refused = failing([usedUp]).client;
    await expect(refused.send(openSession, { body: { slug: 'notes' } })).rejects.toBe(usedUp);
  });

  it('does not repeat a refusal', async () => {
    const refusal = new AppError('conflict', 'no', { detail: { status: 409 } });
    const { client, keys } = failing([refusal]);
    await expect(client.send(enqueueCall, enqueue)).rejects.toBe(refusal);
    expect(keys).toHaveLength(1);
  });

  it('gives up when the time is over', async () => {
    const { client, keys } = failing([noAnswer(reset), noAnswer(reset)], 0);
    await expect(client.send(enqueueCall, enqueue)).rejects.toThrow('no answer');
    expect(keys).toHaveLength(1);
  });

  it('ends by its signal', async () => {
    const failure = noAnswer(reset);
    const { client, keys } = failing([failure]);
    const signal = AbortSignal.abort();
    await expect(client.send(enqueueCall, { ...enqueue, signal })).rejects.toBe(failure);
    expect(keys).toHaveLength(1);
  });
});
