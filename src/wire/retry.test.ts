/** Tests which requests are repeated and which are not, with a client that fails as the test demands. */
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

/** Returns a client that fails once with each of these errors, in order, and answers all further requests. */
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

describe('a client that retries', () => {
  it('generates an idempotency key for an operation that takes one, and repeats the request with the same key', async () => {
    const { client, keys } = failing([noAnswer(reset), answered(503), answered(502)]);
    await client.send(enqueueCall, enqueue);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    await client.send(enqueueCall, enqueue);
    expect(keys[4]).not.toBe(keys[0]);
  });

  it('sends a key with every operation that takes one', async () => {
    const { client, keys } = failing([noAnswer(reset), undefined, noAnswer(reset)]);
    await client.send(openSession, { body: { slug: 'notes' } });
    await client.send(enqueueCall, enqueue);
    expect(keys.map((key) => typeof key)).toEqual(['string', 'string', 'string', 'string']);
  });

  it('keeps the idempotency key that the caller gave', async () => {
    const { client, keys } = failing([noAnswer(reset)]);
    await client.send(enqueueCall, { ...enqueue, headers: { 'idempotency-key': 'mine' } });
    expect(keys).toEqual(['mine', 'mine']);
  });

  it('retries reads and deletes', async () => {
    const { client, keys } = failing([noAnswer(reset), undefined, noAnswer(reset)]);
    await client.send(getCall, { params: { ...params, callId: 'call-1' } });
    await client.send(closeSession, { params, body: {} });
    expect(keys).toHaveLength(4);
  });

  it('does not retry a write that may have been carried out', async () => {
    for (const failure of [noAnswer(reset), answered(503)]) {
      const { client, keys } = failing([failure]);
      await expect(client.send(updateTask, update)).rejects.toBe(failure);
      expect(keys).toHaveLength(1);
    }
  });

  it('waits for a server that broke off a connection after it was reached', async () => {
    const { client, keys } = failing([noAnswer(reset), noAnswer(refused), noAnswer(refused)]);
    await client.send(enqueueCall, enqueue);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
  });

  it('retries a request that was never sent, to a server that has answered before', async () => {
    const { client, keys } = failing([undefined, noAnswer(refused)]);
    await client.send(getCall, { params: { ...params, callId: 'call-1' } });
    await client.send(updateTask, update);
    expect(keys).toHaveLength(3);
  });

  it('does not wait for a server that was never reached', async () => {
    const both = new AggregateError([refused, refused]);
    const { client, keys } = failing([noAnswer(both)]);
    await expect(client.send(enqueueCall, enqueue)).rejects.toThrow('no answer');
    expect(keys).toHaveLength(1);
  });

  it('retries when the server is overloaded, but not when a quota is used up', async () => {
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

  it('does not repeat a request that was refused', async () => {
    const refusal = new AppError('conflict', 'no', { detail: { status: 409 } });
    const { client, keys } = failing([refusal]);
    await expect(client.send(enqueueCall, enqueue)).rejects.toBe(refusal);
    expect(keys).toHaveLength(1);
  });

  it('gives up at its deadline', async () => {
    const { client, keys } = failing([noAnswer(reset), noAnswer(reset)], 0);
    await expect(client.send(enqueueCall, enqueue)).rejects.toThrow('no answer');
    expect(keys).toHaveLength(1);
  });

  it('stops when its signal aborts', async () => {
    const failure = noAnswer(reset);
    const { client, keys } = failing([failure]);
    const signal = AbortSignal.abort();
    await expect(client.send(enqueueCall, { ...enqueue, signal })).rejects.toBe(failure);
    expect(keys).toHaveLength(1);
  });
});
