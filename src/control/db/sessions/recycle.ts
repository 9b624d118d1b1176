/**
 * Ends a session in the usual case with one statement. The host of a closing session reports that it no longer serves
 * the session, and sends the last entries of the ledger. The session is closed, and the host recycles. Other cases are
 * handled in `endings.ts`: open calls, a worn host, a host that cannot prove that it is clean.
 */
import type { EndReason } from '#domain/session.ts';
import type { Holding } from '#wire/host-api/assignment.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import { type Queryable, statement } from '../core/database.ts';
import { hostBefore } from '../core/states.ts';
import type { SessionHost } from './calls.ts';
import { entryValues, keptBytes, writeEntries } from './requests.ts';
import { type SessionRow, sessionColumns } from './session-row.ts';

/** Next state of the host, and the SQL condition on the host under which the session is closed. */
type Release = { name: string; to: 'recycling' | 'warm'; proof: string };

// Locks the session first, then its host, like every transaction that ends a session.
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
   select host."hostGeneration", ${keptBytes}, ${sessionColumns({ hostAddress: 'host.address' })} from s cross join host`,
  );

const recycleStatement = closeStatement({
  name: 'close_and_recycle',
  to: 'recycling',
  proof: 'h.state_digest is not null',
});

// A host that has recycled itself before it reports the end becomes warm at once.
const warmStatement = closeStatement({
  name: 'close_and_warm',
  to: 'warm',
  proof: 'h.bundle = :bundle and h.state_digest = :stateDigest',
});

export type Recycled = {
  session: SessionRow & { endReason: EndReason };
  generation: number;
  /** Bytes of the ledger entries that the session had before; null if unknown. */
  keptBytes: number | null;
};

/**
 * Closes a session, and makes its host recycle. With `holding`, the host has already recycled; it becomes warm if the
 * reported bundle and state digest equal the stored ones. Also writes the last ledger entries; with them, the ledger
 * may exceed its limit (see `makeRoom`). Writes nothing and returns undefined if ending the session needs other steps.
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
