/**
 * Ledgers of sessions: requests, as hosts deliver them. An entry is written once, by the host that serves the session
 * or did so until just now. Of each session, the newest entries are stored, up to a limit.
 */
import type { LedgerOrigin } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import { type Queryable, replannedStatement, statement } from '../core/database.ts';
import { type Count, type CountRow, countOf, type Read, toCount, toRead } from '../core/lists.ts';
import { type NamedValues, rowsOf } from '../core/parameters.ts';
import type { SessionHost } from './calls.ts';

export type RequestRow = {
  sessionId: string;
  id: number;
  at: Date;
  via: LedgerOrigin;
  operation: string | null;
  method: string | null;
  path: string | null;
  status: number | null;
  durationMs: number;
  /** Values without a fixed schema as JSON text; null if they did not fit on the page. */
  request: string | null;
  response: string | null;
  changes: string | null;
  rows: string | null;
  callId: string | null;
};

/**
 * Builds the parts `written` and `due` of a statement. They write ledger entries of a session, and add these to the
 * outbox of the session's trace. `session` must be a part with a row that has the ids of the session, its world and its
 * trace. With `reportsSession`, the outbox entry also covers the session itself, even if there are no ledger entries.
 */
export const writeEntries = (session: string, reportsSession = false): string =>
  `written as (
     insert into requests (session_id, world_id, id, at, via, operation, method, path, status,
                         duration_ms, request, response, changes, rows, call_id, bytes,
                         sent_url, sent_line)
   select ${session}.id, ${session}.world_id, entry.* from ${session} cross join ${rowsOf(`:id::int[],
     :at::timestamptz[], :via::text[], :operation::text[], :method::text[], :path::text[],
     :status::int[], :durationMs::float8[], :request::json[], :response::json[], :changes::json[],
     :rows::json[], :callId::text[], :bytes::int[], :sentUrl::text[], :sentLine::text[]`)} entry
     on conflict do nothing
     returning id, bytes
   ), due as (
     insert into trace_dues (session_id, tells_session, from_id, to_id, bytes)
     select ${session}.id, ${reportsSession}, fresh.first, fresh.last, coalesce(fresh.bytes, 0)
       from ${session}
      cross join (select min(id) as first, max(id) as last, sum(bytes) as bytes from written) fresh
      where ${session}.trace_id is not null and (${reportsSession} or fresh.first is not null)
   )`;

/** SQL for the bytes of the ledger entries that the session had before; null if they were not counted. */
export const keptBytes = `(select l.bytes from ledgers l where l.session_id = :sessionId)::float8 as "keptBytes"`;

// The session's row is not locked, so that its calls do not wait for this.
const insertStatement = statement(
  'insert_requests',
  `with served as (
     select s.id, s.world_id, s.trace_id from sessions s join hosts h on h.id = s.host_id
      where s.id = :sessionId and s.host_id = :hostId and s.generation = :generation
        and h.state <> 'gone' and h.generation between :generation and :generation + 1
   ), ${writeEntries('served')}
   select ${keptBytes} from served`,
);

/** SQL condition that a ledger entry of the session `$1` is not a delivery that still has to be pushed. */
export const isNotPushed = 'id not in (select delivery_id from pushes where session_id = $1)';

// Deliveries and other entries have separate limits, so that neither displaces the other. Deliveries that are still to
// be sent are not dropped. The number of dropped entries is recorded. The statement does not join entries with pushes.
// If statistics are old, PostgreSQL takes both lists for short, and would compare each entry with each push.
export const trimStatement = statement(
  'trim_requests',
  `with ranked as (
     select id, via = 'webhook' as is_delivery, row_number() over newest as position,
            sum(bytes) over newest as total
       from requests where session_id = $1 and ${isNotPushed}
     window newest as (partition by via = 'webhook' order by id desc)
   ), last as (
     select max(id) filter (where is_delivery and
              (position > ${limits.sessionDeliveries} or total > ${limits.sessionDeliveryBytes})) as delivery,
            max(id) filter (where not is_delivery and
              (position > ${limits.sessionRequests} or total > ${limits.sessionRequestBytes})) as other
       from ranked
   ), dropped as (
     delete from requests using last
      where session_id = $1 and ${isNotPushed}
        and id <= case when via = 'webhook' then last.delivery else last.other end
     returning id
   ), noted as (
     update ledgers set dropped_at = now(),
            dropped_entries = dropped_entries + (select count(*) from dropped)
      where session_id = $1 and exists (select from dropped)
   )
   select count(*)::int as entries from dropped`,
);

const jsonColumns = ['request', 'response', 'changes', 'rows'] as const;
/** Columns that have the same names as the members of an entry. */
const entryColumns = [
  ...(['id', 'at', 'via', 'operation', 'method', 'path', 'status'] as const),
  ...jsonColumns,
];

const bytesOf = (entry: KeptEntry): number =>
  jsonColumns.reduce((bytes, name) => bytes + Buffer.byteLength(entry[name]), 0);

/** Returns the parameters of `writeEntries` for these entries. */
export const entryValues = (entries: readonly KeptEntry[]): NamedValues => {
  const column = <Name extends keyof KeptEntry>(name: Name) => entries.map((each) => each[name]);
  return {
    ...Object.fromEntries(entryColumns.map((name) => [name, column(name)])),
    durationMs: column('duration_ms'),
    callId: column('call_id'),
    sentUrl: column('sentUrl'),
    sentLine: column('sentLine'),
    bytes: entries.map(bytesOf),
  };
};

const fewestEntries = Math.min(limits.sessionRequests, limits.sessionDeliveries);
const fewestBytes = Math.min(limits.sessionRequestBytes, limits.sessionDeliveryBytes);

/**
 * Returns true if a session may exceed a limit after these entries were added. Entries are numbered from 1 without
 * gaps, so the number of entries is at most the number of the last one.
 */
const mayBeTooMany = (entries: readonly KeptEntry[], kept: number | null): boolean => {
  const [first, last] = [entries[0]?.id ?? 0, entries.at(-1)?.id ?? 0];
  if (last > fewestEntries || (kept === null && first > 1)) return true;
  return entries.reduce((sum, entry) => sum + bytesOf(entry), kept ?? 0) > fewestBytes;
};

/**
 * Drops the oldest entries of a session if its ledger exceeds a limit. The check is skipped if adding `entries` cannot
 * have led to that.
 */
export const makeRoom = async (
  db: Queryable,
  sessionId: string,
  entries: readonly KeptEntry[],
  kept: number | null,
): Promise<void> => {
  if (mayBeTooMany(entries, kept)) await db.query(trimStatement, [sessionId]);
};

/**
 * Writes entries, and drops the oldest entries beyond the limits. Returns false unless the host serves the session, or
 * was the last to serve it and has had no other session since. Existing entries stay unchanged.
 */
export const insertRequests = async (
  db: Queryable,
  { sessionId, hostId, generation }: SessionHost,
  entries: readonly KeptEntry[],
): Promise<boolean> => {
  const [served] = await db.query<{ keptBytes: number | null }>(insertStatement, {
    ...{ sessionId, hostId, generation },
    ...entryValues(entries),
  });
  if (served === undefined) return false;
  await makeRoom(db, sessionId, entries, served.keptBytes);
  return true;
};

const columns = `r.session_id as "sessionId", r.id, r.at, r.via, r.operation, r.method, r.path,
  r.status, r.duration_ms as "durationMs", r.call_id as "callId",
  ${jsonColumns.map((name) => `case when f.whole then r.${name}::text end as ${name}`).join(', ')}`;

export type RequestFilter = { via?: LedgerOrigin; operation?: string; status?: number };
/** Returns true if a value can be the number of a ledger entry. */
export const isEntryId = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31;

/** Cursor into one session's ledger: the page starts after this entry. */
export type SessionPosition = { id: number };
/** Cursor into the ledgers of a world: the page starts after this entry and continues with older entries. */
export type WorldPosition = { at: Date; sessionId: string; id: number };
export type Page<Position> = { limit: number; offset: number; from: Position | undefined };
export type RequestPage = Read<RequestRow> & { count: Count };

const filtered = `(:via::text is null or r.via = :via) and (:operation::text is null or r.operation = :operation)
  and (:status::int is null or coalesce(r.status, 0) = :status)`;

type ListOf = { name: string; owned: string; since: string; order: string };

// After a page reaches its byte limit, entries are listed without their free JSON, which is then not read. The first
// entry is always complete, because otherwise no page could show it. The cursor is never null, so that the index finds
// its position.
const listOf = ({ name, owned, since, order }: ListOf) => ({
  list: replannedStatement(
    `list_${name}`,
    `with page as (
       select r.session_id, r.id, r.at, r.bytes from requests r
        where ${owned} and ${since} and ${filtered} order by ${order} limit :limit offset :offset
     ), filled as (
       select r.session_id, r.id,
              row_number() over by_order = 1 or sum(r.bytes) over by_order <= :mostBytes::bigint as whole
         from page r window by_order as (order by ${order})
     )
     select ${columns} from filled f join requests r on r.session_id = f.session_id and r.id = f.id
      order by ${order}`,
  ),
  count: countOf({
    name: `count_${name}`,
    from: `requests r where ${owned}`,
    order,
    matching: filtered,
    isAll: ':via::text is null and :operation::text is null and :status::int is null',
  }),
});

const ofSession = listOf({
  name: 'session_requests',
  owned: 'r.session_id = :owner and r.id > coalesce(:after::int, 0)',
  since: 'r.id > :fromId::int',
  order: 'r.id',
});

/** Statements for a page of the requests to a world, and for their count. */
export const ofWorld = listOf({
  name: 'world_requests',
  owned: `r.world_id = :owner and r.at > coalesce(:after::timestamptz, '-infinity')`,
  since: '(r.at, r.session_id, r.id) < (:fromAt::timestamptz, :fromSession::text, :fromId::int)',
  order: 'r.at desc, r.session_id desc, r.id desc',
});

const readPage = async (
  db: Queryable,
  { list, count }: ReturnType<typeof listOf>,
  values: NamedValues,
  { limit, offset }: { limit: number; offset: number },
  from: NamedValues,
): Promise<RequestPage> => {
  const [rows, [counted]] = await Promise.all([
    db.query<RequestRow>(list, {
      ...values,
      ...from,
      limit: limit + 1,
      offset,
      mostBytes: limits.pageBytes,
    }),
    db.query<CountRow>(count, values),
  ]);
  return { ...toRead(rows, limit), count: toCount(counted) };
};

const filterValues = (
  owner: string,
  filter: RequestFilter & { after?: number | Date },
): NamedValues => {
  const { via = null, operation = null, status = null, after = null } = filter;
  return { owner, via, operation, status, after };
};

// Entries are numbered without gaps. So a missing number below the last was dropped, or never arrived. If a ledger has
// no entries left, the number of dropped ones is recorded; so is the last number that a host could not deliver.
const findLedgerStatement = statement(
  'find_ledger',
  `select (greatest(kept.last, l.last_entry, case when kept.last is null then l.dropped_entries end, 0)
             - kept.entries)::int as dropped
     from sessions s
     left join ledgers l on l.session_id = s.id
    cross join lateral (select max(r.id) as last, count(*) as entries from requests r where r.session_id = s.id) kept
    where s.id = $1 and s.project_id = $2`,
);

/** Lists a page of a session's requests, oldest first. Returns undefined if the project has no such session. */
export const listSessionRequests = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  filter: RequestFilter & { after?: number },
  page: Page<SessionPosition>,
): Promise<(RequestPage & { dropped: number }) | undefined> => {
  const found = await db.query<{ dropped: number }>(findLedgerStatement, [sessionId, projectId]);
  const [ledger] = found;
  if (ledger === undefined) return undefined;
  const from = { fromId: page.from?.id ?? 0 };
  return {
    ...(await readPage(db, ofSession, filterValues(sessionId, filter), page, from)),
    ...ledger,
  };
};

/** Lists a page of the requests to all sessions of a world, newest first. */
export const listWorldRequests = (
  db: Queryable,
  worldId: string,
  filter: RequestFilter & { after?: Date },
  page: Page<WorldPosition>,
): Promise<RequestPage> => {
  const { at = 'infinity', sessionId = '', id = 0 } = page.from ?? {};
  const from = { fromAt: at, fromSession: sessionId, fromId: id };
  return readPage(db, ofWorld, filterValues(worldId, filter), page, from);
};
