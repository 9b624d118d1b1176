/**
 * How much is kept of the requests of a project's sessions. Open sessions keep theirs, up to the limit of
 * each; over its quota, a project's oldest closed sessions make room. What was dropped is written down.
 */
import { type Database, type Queryable, statement } from './pool.ts';

// One project a time, the one not looked at for longest, and none twice in half a minute.
const nextStatement = statement(
  'next_ledger',
  `update projects set ledger_checked_at = now() where id = (
     select id from projects where ledger_checked_at < now() - interval '30 seconds'
      order by ledger_checked_at limit 1 for update skip locked
   ) returning id, coalesce(quota_ledger_mib, $1) * 1048576::bigint as most`,
);

/** Of what goes in one go. */
const mostSessions = 200;
const mostBytes = 256 * 1024 * 1024;

// A session's number rises with time. What was closed just now may still get entries from its host.
const dropStatement = statement(
  'drop_ledgers',
  `with excess as (
     select coalesce(sum(bytes), 0) - $2::bigint as bytes
       from ledgers where project_id = $1 and bytes > 0
   ), oldest as (
     select l.session_id, l.bytes, sum(l.bytes) over (order by l.session_id) - l.bytes as before
       from ledgers l join sessions s on s.id = l.session_id
      where l.project_id = $1 and l.bytes > 0 and s.closed_at < now() - interval '1 minute'
        and (select bytes from excess) > 0
      order by l.session_id limit ${mostSessions}
   ), dropped as (
     delete from requests where session_id in (
       select session_id from oldest, excess
        where oldest.before < least(excess.bytes, ${mostBytes})
     ) returning session_id
   )
   select session_id as "sessionId", count(*)::int as entries from dropped group by 1`,
);

// There may be more to drop: it is looked at again, after those that have waited for longer.
const againStatement = statement(
  'ledger_again',
  `update projects set ledger_checked_at = now() - interval '30 seconds' where id = $1`,
);

const noteStatement = statement(
  'note_dropped',
  `update ledgers l set dropped_entries = l.dropped_entries + d.entries, dropped_at = now()
     from unnest($1::text[], $2::int[]) d (session_id, entries) where l.session_id = d.session_id`,
);

export type DroppedLedger = { sessionId: string; entries: number };

const dropOf = async (tx: Queryable, projectId: string, most: string): Promise<DroppedLedger[]> => {
  const dropped = await tx.query<DroppedLedger>(dropStatement, [projectId, most]);
  if (dropped.length > 0) {
    const ids = dropped.map(({ sessionId }) => sessionId);
    await tx.query(noteStatement, [ids, dropped.map(({ entries }) => entries)]);
    await tx.query(againStatement, [projectId]);
  }
  return dropped;
};

export type TrimmedProject = { projectId: string; dropped: DroppedLedger[] };

/** Makes room in one project, if one is due; answers whose entries were dropped. */
export const trimLedgers = (db: Database, usualMib: number): Promise<TrimmedProject | undefined> =>
  db.transaction(async (tx) => {
    const [next] = await tx.query<{ id: string; most: string }>(nextStatement, [usualMib]);
    if (next === undefined) return undefined;
    return { projectId: next.id, dropped: await dropOf(tx, next.id, next.most) };
  });
