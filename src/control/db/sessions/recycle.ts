/**
 * The end of most sessions in one statement: the host says that it serves one no longer that was to be closed, with
 * the last entries of its ledger; the session is closed, and the host recycles. What is not as usual is left to the
 * steps of `endings.ts`: calls that are open, a host that is worn or has nothing to prove itself clean by.
 */
import type { EndReason } from '#domain/session.ts';
import type { Holding } from '#wire/host-api/assignment.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import { type Queryable, statement } from '../core/database.ts';
import { hostBefore } from '../core/states.ts';
import type { SessionHost } from './calls.ts';
import { entryValues, keptBytes, writeEntries } from './requests.ts';
import { type SessionRow, sessionColumns } from './sessions.ts';

/** What becomes of the host, and what it has to show for that. */
type Release = { name: string; to: 'recycling' | 'warm'; proof: string };

// The session is locked first, then its host: as whoever ends one does.
const closeStatement = ({ name, to, proof }: Release) =>
  statement(
    name,
    `with closing as materialized (
     select id from sessions
      where id = :sessionId and host_id = :hostId and generation = :generation
        and state = 'CLOSING' and keep_warm and open_calls = 0
        for no key update
   ), host as (
     update hosts h
        set state = '${to}', state_since = now(), generation = h.generation + 1, session_id = null
       from closing
      where h.id = :hostId and h.session_id = closing.id and h.state in ${hostBefore('recycling')}
        and ${proof} and h.uses < :mostUses
     returning h.generation as "hostGeneration", h.address
   ), s as (
     update sessions set state = 'CLOSED', state_since = now(), closed_at = now()
       from host where id = :sessionId
     returning sessions.*
   ), ${writeEntries('s', true)}
   select host."hostGeneration", ${keptBytes}, ${sessionColumns('host.address')} from s cross join host`,
  );

const recycleStatement = closeStatement({
  name: 'close_and_recycle',
  to: 'recycling',
  proof: 'h.state_digest is not null',
});

// One that has recycled itself before it tells of the end is warm at once: its recycling is over by then.
const warmStatement = closeStatement({
  name: 'close_and_warm',
  to: 'warm',
  proof: 'h.bundle = :bundle and h.state_digest = :stateDigest',
});

export type Recycled = {
  session: SessionRow & { endReason: EndReason };
  generation: number;
  /** Bytes of entries that the session had before; null: not known. */
  keptBytes: number | null;
};

/**
 * Closes a session whose host may recycle, or has done so and holds what it held before, and writes its last entries,
 * which may be more than it may have then: see `makeRoom`. Undefined, and nothing written, where that is not all that
 * there is to do.
 */
export const closeAndRecycle = async (
  db: Queryable,
  host: SessionHost,
  mostUses: number,
  entries: readonly KeptEntry[],
  holding?: Holding,
): Promise<Recycled | undefined> => {
  type Row = Recycled['session'] & { hostGeneration: number; keptBytes: number | null };
  const values = { ...host, mostUses, ...holding, ...entryValues(entries) };
  const [row] = await db.query<Row>(
    holding === undefined ? recycleStatement : warmStatement,
    values,
  );
  if (row === undefined) return undefined;
  const { hostGeneration: generation, keptBytes: kept, ...session } = row;
  return { session, generation, keptBytes: kept };
};
