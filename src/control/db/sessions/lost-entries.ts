/**
 * Ledger entries that a host failed to deliver. They are counted in the ledger, and the error of the session mentions
 * them. A host may report them several times; a report has an effect only if it goes beyond the last recorded entry.
 */
import { type Queryable, statement } from '../core/database.ts';
import type { SessionError } from './ended-session.ts';

const lockStatement = statement(
  'lock_last_served',
  'select error from sessions where id = :sessionId and host_id = :hostId for no key update',
);

const noteStatement = statement(
  'note_last_entry',
  `with kept as (
     select coalesce(max(r.id), 0) as last, coalesce(sum(r.bytes), 0) as bytes
       from requests r where r.session_id = :sessionId
   ), noted as (
     insert into ledgers as l (session_id, project_id, bytes, last_entry)
     select s.id, s.project_id, kept.bytes, :lastEntry::int from sessions s, kept
      where s.id = :sessionId and (:lastEntry::int > kept.last or :entries::int is not null)
     on conflict (session_id) do update set last_entry = excluded.last_entry
       where coalesce(l.last_entry, 0) < excluded.last_entry
     returning session_id
   )
   select coalesce(:entries::int, :lastEntry::int - kept.last) as entries from noted, kept`,
);

const sayStatement = statement(
  'say_lost_entries',
  'update sessions set error = :error::json where id = :sessionId',
);

export type LostLedger = {
  sessionId: string;
  hostId: string;
  /** Number of the last entry that the host wrote into the ledger. */
  lastEntry: number;
  /**
   * Number of entries that the host reports as not delivered; if undefined, all entries after the last that arrived
   * count.
   */
  entries?: number | undefined;
};

/** Adds a message about lost ledger entries to the error of a session. */
const describeLoss = (error: SessionError | null, entries: number): SessionError => {
  const number = entries === 1 ? '1 entry' : `${entries} entries`;
  const message = `${number} of its request ledger never reached the control plane`;
  if (error === null) return { code: 'ledger_incomplete', message };
  return { ...error, message: `${error.message}; ${message}` };
};

/**
 * Records the number of the last ledger entry that the host wrote. The transaction must have locked the session, or
 * lock nothing else. Returns the number of entries that are newly known as lost; 0 if there are none, or this host was
 * not the last to serve the session.
 */
export const noteLostEntries = async (
  tx: Queryable,
  { sessionId, hostId, lastEntry, entries }: LostLedger,
): Promise<number> => {
  const served = { sessionId, hostId };
  const [session] = await tx.query<{ error: SessionError | null }>(lockStatement, served);
  if (session === undefined) return 0;
  const last = { sessionId, lastEntry, entries: entries ?? null };
  const [noted] = await tx.query<{ entries: number }>(noteStatement, last);
  if (noted === undefined) return 0;
  const error = JSON.stringify(describeLoss(session.error, noted.entries));
  await tx.query(sayStatement, { sessionId, error });
  return noted.entries;
};
