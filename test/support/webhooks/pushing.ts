/** Sessions that send webhooks, on a simulated host, for tests of the sender. */
import type { TestControl } from '../control/control.ts';
import type { PlayedHost } from '../control/host.ts';

/** Builds an entry of a session's ledger that records a delivery. */
export const deliveryEntry = (
  id: number,
  url: string,
  parts: {
    event?: string;
    body?: unknown;
    subscription?: unknown;
    headers?: unknown;
    callId?: string;
  } = {},
) => ({
  id,
  at: new Date().toISOString(),
  via: 'webhook',
  operation: parts.event ?? 'note.created',
  method: 'POST',
  path: null,
  status: null,
  request: {
    url,
    subscription: parts.subscription ?? { id: 1 },
    generation: 0,
    headers: parts.headers ?? { 'content-type': 'application/json', 'x-signature': `of ${id}` },
    body: parts.body ?? { id },
    scope: null,
  },
  response: null,
  duration_ms: 0,
  changes: {},
  rows: [],
  call_id: parts.callId ?? null,
});

/** Makes a host deliver these entries of a session's ledger. */
export const tellOf = (host: PlayedHost, entries: readonly { id: number }[]): Promise<unknown> =>
  host.requests(entries as Parameters<PlayedHost['requests']>[0]);

export type KeptAnswer = {
  session_id: string;
  delivery_id: number;
  status: number;
  reason: string | null;
  sent_to: string | null;
  sender: string;
};

/** Returns the stored answers of receivers, in the order of the deliveries. */
export const readAnswers = (control: TestControl): Promise<KeptAnswer[]> =>
  control.sql<KeptAnswer>(
    'select session_id, delivery_id, status, reason, sent_to, sender from delivery_answers order by 1, 2',
  );

/** Deletes all pushes and answers. */
export const clearPushes = async (control: TestControl): Promise<void> => {
  for (const table of ['pushes', 'push_sessions', 'delivery_answers', 'webhook_destinations']) {
    await control.sql(`delete from ${table}`);
  }
  await control.sql('update projects set webhook_push_since = null');
};
