/**
 * A client of a session's API that writes one row after the other while the session lives, and records each outcome.
 * It uses the session's current address, and reads it again whenever a write fails, as a client has to.
 */
import { isReady } from '#domain/session.ts';
import { pause } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import { getSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';

/** A write: when it was sent and answered, and its outcome. Without an answer the outcome is unknown. */
export type ApiWrite = { sentAt: Date; at: Date; outcome: 'done' | 'refused' | 'unknown' };

export type ApiWriter = {
  /** Stops writing; resolves with all writes once the last is answered. */
  stop(): Promise<ApiWrite[]>;
  /** Resolves with true at the next successful write, with false when the session is over or time is up. */
  reaches(withinMs: number): Promise<boolean>;
};

const everyMs = 50;
/**
 * Deadline of a write, in milliseconds. It is longer than a host is paused, since the host's answer after the pause
 * counts.
 */
const answerMs = 20_000;
const firstFolder = 1_001;

/** Starts to write; `session` must be ready. */
export const startApiWriter = (client: Client, session: SessionView): ApiWriter => {
  const writes: ApiWrite[] = [];
  const stopping = new AbortController();
  let present = session;

  const write = async (id: number): Promise<ApiWrite['outcome']> => {
    const { url, token } = present.surfaces.api ?? {};
    if (url === undefined) return 'refused';
    try {
      const answer = await fetch(`${url}/folders`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id, name: `folder ${id}` }),
        signal: AbortSignal.timeout(answerMs),
      });
      await answer.arrayBuffer();
      return answer.ok ? 'done' : 'refused';
    } catch {
      return 'unknown'; // the row may have been written or not
    }
  };
  const look = async (): Promise<void> => {
    try {
      present = (await client.send(getSession, { params: { sessionId: session.id } })).body;
    } catch {
      // The link to the control plane is disturbed; the next attempt follows soon.
    }
  };

  const run = async (): Promise<void> => {
    for (let id = firstFolder; isReady(present.state) && !stopping.signal.aborted; id += 1) {
      const sentAt = new Date();
      const outcome = await write(id);
      writes.push({ sentAt, at: new Date(), outcome });
      if (outcome !== 'done') await look();
      await pause(everyMs, stopping.signal);
    }
  };
  const ended = run();

  return {
    async stop() {
      stopping.abort();
      await ended;
      return writes;
    },
    async reaches(withinMs) {
      const from = writes.length;
      const endsAt = performance.now() + withinMs;
      const isDone = () => writes.slice(from).some(({ outcome }) => outcome === 'done');
      while (!isDone() && isReady(present.state) && performance.now() < endsAt)
        await pause(everyMs);
      return isDone();
    },
  };
};
