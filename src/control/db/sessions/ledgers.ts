/**
 * How much is kept of the requests of a project's sessions. Open sessions keep theirs, up to the limit of
 * each; over its quota, a project's oldest closed sessions make room, and then deliveries of open ones.
 * What was dropped is written down.
 */
import { limits } from '#domain/limits.ts';
import { type Queryable, statement } from '../core/database.ts';
import { isNotPushed } from './requests.ts';

// One project a time, the one not looked at for longest, and none twice in half a minute.
const nextStatement = statement(
  'next_ledger',
  `update projects set ledger_checked_at = now() where id = (
     select id from projects where ledger_checked_at < now() - interval '30 seconds'
      order by ledger_checked_at limit 1 for update skip locked
   ) returning id, coalesce(quota_ledger_mib, $1) * 1048576::bigint as most`,
);

/** Sessions whose entries go in one go, and entries that one statement deletes. */
const mostSessions = 200;
const mostEntries = 500;
const mostBytes = 256 * 1024 * 1024;

// A session's number rises with time. What was closed just now may still get entries from its host.
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

// Sessions that are open keep what is not a delivery, and of deliveries no more than of that.
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

// There may be more to drop: it is looked at again, after those that have waited for longer.
const againStatement = statement(
  'ledger_again',
  `update projects set ledger_checked_at = now() - interval '30 seconds' where id = $1`,
);

// What is dropped is written down where it is; the trigger takes its bytes away. Entries are numbered
// without gaps, so up to the last of them none is left.
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

// Whatever was counted wrongly is right again afterwards.
const recountStatement = statement(
  'recount_ledger',
  `update ledgers l set bytes = coalesce(
     (select sum(r.bytes) from requests r where r.session_id = l.session_id), 0)
    where l.session_id = $1`,
);

export type DroppedLedger = { sessionId: string; entries: number };

/** Drops the entries of a session, so many at a time that no statement takes long. */
const dropSession = async (db: Queryable, sessionId: string): Promise<DroppedLedger> => {
  let entries = 0;
  for (let batch = mostEntries; batch === mostEntries; entries += batch) {
    const [dropped] = await db.query<{ entries: number }>(dropStatement, [sessionId]);
    batch = dropped?.entries ?? 0;
  }
  await db.query(recountStatement, [sessionId]);
  return { sessionId, entries };
};

/** Drops deliveries of open sessions that have most, when no closed one is left to make room. */
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
 * Makes room in one project, if one is due; answers whose entries were dropped. That it was looked at is
 * written before, so that one where it fails does not keep others waiting.
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

/** Sessions that are counted in one go. */
const mostCounted = 200;

// One after the other by the primary key of requests, whose rows are many.
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

/** Counts what some sessions have that a release before this one wrote the requests of. */
export const fillLedgers = async (db: Queryable): Promise<void> => {
  await db.query(uncountedStatement, []);
};
