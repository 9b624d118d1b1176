/**
 * Support for tests of hosts' states, on a control plane with the world `notes`: opens sessions, brings one to a state
 * with a simulated host, drains hosts and reports them gone.
 */
import type { SessionState } from '#domain/session.ts';
import { drainHost, reportGone } from '#wire/pool-api/operations.ts';
import { closeSession, openSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { type PlayedHost, warmHost } from './host.ts';
import type { OwnControl } from './own-control.ts';

export const openNotes = async (control: OwnControl): Promise<SessionView> =>
  (await control.send(openSession, { body: { slug: 'notes', reuseWarm: true } })).body;

export const gone = (control: OwnControl, host: PlayedHost, reason = 'exited') =>
  control.pool(reportGone, { params: { hostId: host.id }, body: { reason } });

export const drain = (
  control: OwnControl,
  host: PlayedHost,
  reason: string,
  ifState?: 'warm' | 'assigned',
) =>
  control.pool(drainHost, {
    params: { hostId: host.id },
    body: { reason, ...(ifState === undefined ? {} : { ifState }) },
  });

/** Reads a host's row from the database. */
export const rowOf = async (control: OwnControl, host: PlayedHost) => {
  const [row] = await control.sql<{
    state: string;
    generation: number;
    end_reason: string | null;
    end_detail: string | null;
  }>('select state, generation, end_reason, end_detail from hosts where id = $1', [host.id]);
  return row;
};

/** Returns a session in the given state, with its simulated host. */
export const inState = async (
  control: OwnControl,
  state: SessionState,
): Promise<[SessionView, PlayedHost]> => {
  const host = await warmHost(control);
  const session = await openNotes(control);
  await host.poll();
  if (state === 'PROVISIONING') return [session, host];
  await host.ready();
  if (state === 'CLOSING') {
    await control.send(closeSession, { params: { sessionId: session.id }, body: {} });
  }
  return [session, host];
};
