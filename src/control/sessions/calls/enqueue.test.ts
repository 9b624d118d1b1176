import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../db/core/database.ts';
import { createCallWrites } from '../../db/sessions/batched-calls.ts';
import type { RefusingSession } from '../../db/sessions/ended-session.ts';
import type { SessionParts } from '../parts.ts';
import { enqueue } from './enqueue.ts';

/** Enqueues a call against a stub database that refuses the call and then reports the given state of the session. */
type SessionState = Partial<RefusingSession> & { openCalls: number; projectCalls: number };

const refusing = (session: SessionState) => {
  const db: Queryable = {
    query: async <Row>({ name }: { name: string }) =>
      (name === 'call_refusal'
        ? [{ id: 'ses-1', endReason: null, error: null, ...session, projectMost: 20 }]
        : []) as Row[],
  };
  const parts = {
    db,
    callWrites: createCallWrites(db),
    config: { quotas: { queuedCalls: 20 } },
    facts: { get: async () => ({ versionId: 'ver-1' }) },
    callRate: { spend: async () => undefined },
    notifications: { watch: () => ({ end: () => undefined }) },
    waitingHosts: { reserve: () => undefined },
  } as unknown as SessionParts;
  const body = {
    kind: 'state' as const,
    inputJson: '{}',
    redact: 'off' as const,
    keepWarm: false,
    hash: null,
  };
  const request = { projectId: 'prj-1', sessionId: 'ses-1', body, idempotencyKey: undefined };
  const signal = new AbortController().signal;
  return enqueue(parts, request, { ms: 0, signal });
};

describe('the error for a refused call', () => {
  it('reports that the queue was full, even if the queue has a free slot again', async () => {
    await expect(
      refusing({ state: 'READY', openCalls: 999, projectCalls: 3 }),
    ).rejects.toMatchObject({ code: 'exhausted', detail: { retryAfterMs: 1_000 } });
    await expect(
      refusing({ state: 'READY', openCalls: 1_000, projectCalls: 3 }),
    ).rejects.toMatchObject({ code: 'exhausted', message: expect.stringContaining('1000 calls') });
    await expect(
      refusing({ state: 'READY', openCalls: 12, projectCalls: 20 }),
    ).rejects.toMatchObject({ code: 'exhausted', detail: { quota: 'queued_calls', limit: 20 } });
  });

  it('reports the state of a session that accepts no calls', async () => {
    for (const state of ['CLOSING', 'CLOSED', 'FAILED'] as const) {
      await expect(refusing({ state, openCalls: 0, projectCalls: 0 })).rejects.toMatchObject({
        code: 'conflict',
        detail: { state },
      });
    }
  });

  it('reports the reason why the session ended', async () => {
    const error = { code: 'out_of_memory', message: 'its host had no memory left' };
    const end = { state: 'FAILED', endReason: 'out_of_memory', error } as const;
    await expect(refusing({ ...end, openCalls: 0, projectCalls: 0 })).rejects.toMatchObject({
      message: 'ses-1 is FAILED (out_of_memory: its host had no memory left) and takes no calls',
      detail: { state: 'FAILED', endReason: 'out_of_memory', sessionError: error },
    });
  });
});
