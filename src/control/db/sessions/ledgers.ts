/**
 * Enforces the quota on the ledgers of a project, in bytes. Open sessions keep their entries, up to a limit for each
 * session. If a project exceeds its quota, the entries of its oldest closed sessions are dropped first, then deliveries
 * of open sessions. The number of dropped entries is recorded.
 */
import { limits } from '#domain/limits.ts';
import { type Queryable, statement } from '../core/database.ts';
import { isNotPushed } from './requests.ts';

// Checks one project at a time, the one whose check is oldest, and none twice within 30 s.
const nextStatement = statement(
  'next_ledger',
  `update projects set ledger_checked_at = now() where id = (
     select id from projects where ledger_checked_at < now() - interval '30 seconds'
      order by ledger_checked_at limit 1 for update skip locked
   ) returning id, coalesce(quota_ledger_mib, $1) * 1048576::bigint as most`,
);

/**
 * Maximum numbers: of sessions whose entries one run drops, of entries that one statement deletes, and of bytes that
 * one run drops.
 */
const mostSessions = 200;
const mostEntries = 500;
const mostBytes = 256 * 1024 * 1024;

// Session ids rise with time. A session that was closed just now may still get entries from its host.
const oldestStatement = statement(
  'oldest_ledgers',
  `with excess as (
     select coalesce(sum(bytes), 0) - $2::bigint as bytes
       from ledgers where project_id = $1 and bytes > 0
   ), oldest as (
     select l.session_id, l.bytes, sum(l.bytes) over (order by l.session_id) - l.bytes as before
       from ledgers l join sessions s on s.id = l.session_id
      where l.project_id = $1 and l.bytes > 0 and s.closed_at < now() - interval '1 minute'
        and (select bytes from excess) > 0
      order by l.session_id limit ${mostSessions}
   )
   select session_id as id from oldest, excess
    where oldest.before < least(excess.bytes, ${mostBytes}) order by 1`,
);

// Open sessions keep all entries except deliveries, and deliveries up to the same number of bytes.
const widestStatement = statement(
  'widest_ledgers',
  `select l.session_id as id from ledgers l join sessions s on s.id = l.session_id
    where l.project_id = $1 and l.bytes > ${2 * limits.sessionRequestBytes} and s.closed_at is null
      and (select sum(bytes) from ledgers where project_id = $1 and bytes > 0) > $2::bigint
    order by l.bytes desc limit 5`,
);

const narrowStatement = statement(
  'narrow_ledger',
  `with ranked as (
     select id, sum(bytes) over (order by id desc) as total
       from requests where session_id = $1 and via = 'webhook' and ${isNotPushed}
   ), dropped as (
     delete from requests
      where session_id = $1 and via = 'webhook' and ${isNotPushed}
        and id <= (select max(id) from ranked where total > ${limits.sessionRequestBytes})
     returning id
   )
   update ledgers set dropped_at = now(),
          dropped_entries = dropped_entries + (select count(*) from dropped)
    where session_id = $1
   returning (select count(*)::int from dropped) as entries`,
);

// More may have to be dropped: the project is due again at once, after those that have waited for longer.
const againStatement = statement(
  'ledger_again',
  `update projects set ledger_checked_at = now() - interval '30 seconds' where id = $1`,
);

// The number of dropped entries is recorded in the ledger; a trigger subtracts their bytes. Entries are numbered
// without gaps, so the number of the last dropped one is the number of all that are gone.
const dropStatement = statement(
  'drop_entries',
  `with dropped as (
     delete from requests where session_id = $1 and ${isNotPushed} and id <= (
       select max(id) from (
         select id from requests where session_id = $1 and ${isNotPushed} order by id limit ${mostEntries}) oldest
     ) returning id
   )
   update ledgers set dropped_at = now(),
          dropped_entries = greatest(dropped_entries + (select count(*) from dropped),
                                     (select max(id) from dropped))
    where session_id = $1
   returning (select count(*)::int from dropped) as entries`,
);

// Corrects the stored number of bytes, in case it is wrong.
const recountStatement = statement(
  'recount_ledger',
  `update ledgers l set bytes = coalesce(
     (select sum(r.bytes) from requests r where r.session_id = l.session_id), 0)
    where l.session_id = $1`,
);

export type DroppedLedger = { sessionId: string; entries: number };

/** Drops the entries of a session. The batches are so small that no statement takes long. */
const dropSession = async (db: Queryable, sessionId: string): Promise<DroppedLedger> => {
  let entries = 0;
  for (let batch = mostEntries; batch === mostEntries; entries += batch) {
    const [dropped] = await db.query<{ entries: number }>(dropStatement, [sessionId]);
    batch = dropped?.entries ?? 0;
  }
  await db.query(recountStatement, [sessionId]);
  return { sessionId, entries };
};

/** Drops deliveries of the open sessions with the largest ledgers, if no closed session has entries left. */
const narrowSessions = async (
  db: Queryable,
  { id: projectId, most }: { id: string; most: string },
): Promise<DroppedLedger[]> => {
  const dropped: DroppedLedger[] = [];
  for (const { id } of await db.query<{ id: string }>(widestStatement, [projectId, most])) {
    const [narrowed] = await db.query<{ entries: number }>(narrowStatement, [id]);
    dropped.push({ sessionId: id, entries: narrowed?.entries ?? 0 });
  }
  return dropped;
};

export type TrimmedProject = { projectId: string; dropped: DroppedLedger[] };

/**
 * Enforces the quota in one project whose check is due, and returns the sessions whose entries were dropped. Returns
 * undefined if no check is due. The check is recorded as done before it runs, so that a project in which it fails does
 * not delay other projects.
 */
export const trimLedgers = async (
  db: Queryable,
  usualMib: number,
): Promise<TrimmedProject | undefined> => {
  const [next] = await db.query<{ id: string; most: string }>(nextStatement, [usualMib]);
  if (next === undefined) return undefined;
  const sessions = await db.query<{ id: string }>(oldestStatement, [next.id, next.most]);
  const dropped: DroppedLedger[] = [];
  for (const { id } of sessions) dropped.push(await dropSession(db, id));
  if (sessions.length === 0) dropped.push(...(await narrowSessions(db, next)));
  if (dropped.length > 0) await db.query(againStatement, [next.id]);
  return { projectId: next.id, dropped };
};

/** Maximum number of sessions whose bytes one run of the backfill counts. */
const mostCounted = 200;

// A recursive index scan finds the sessions one by one, because the requests are too many for a full scan.
const uncountedStatement = statement(
  'fill_ledgers',
  `with recursive fill as materialized (
     select after from ledger_fill for update skip locked
   ), session (id, place) as (
     select (select min(r.session_id) from requests r where r.session_id > fill.after), 1 from fill
     union all
     select (select min(r.session_id) from requests r where r.session_id > session.id), place + 1
       from session where id is not null and place < ${mostCounted}
   ), counted as (
     insert into ledgers (session_id, project_id, bytes)
     select s.id, s.project_id, (select sum(r.bytes) from requests r where r.session_id = s.id)
       from session join sessions s on s.id = session.id
      where not exists (select from ledgers l where l.session_id = s.id)
     on conflict do nothing
   ), ended as (
     delete from ledger_fill where exists (select from session where id is null)
   )
   update ledger_fill set after = (select max(id) from session)
    where exists (select from session)
      and not exists (select from session where id is null)`,
);

/** Backfills the byte counts of some sessions whose requests an earlier release wrote. */
export const fillLedgers = async (db: Queryable): Promise<void> => {
  await db.query(uncountedStatement, []);
};
