/**
 * Assigns sessions to warm hosts. Each assignment is one statement, so a session and a host are either both assigned to
 * each other or neither is. An open skips hosts that another transaction has locked. It also skips hosts that a waiting
 * session could have. So waiting sessions come before new ones, and the session with the longest wait comes first.
 * Waiting sessions are assigned under an advisory lock, one assignment at a time. Without the lock, two transactions of
 * which one has locked the session and the other the host would each skip what the other has locked. A host that has
 * loaded a world version serves only that version, and so only that version's project. A blank host serves any version.
 * Hosts that have loaded the version and never had a session come first. `reuseWarm` decides whether hosts that have
 * had a session come before or after the blank ones. Every host must also match the session's tier, isolation and size
 * (src/domain/pool.ts).
 */
import type { HostWish } from '#domain/pool.ts';
import type { BrowserTier, SessionStart } from '#domain/session.ts';
import type { QuotaRefusal, Quotas } from '../../base/fairness/quotas.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { hostBefore, waiting } from '../core/states.ts';
import type { HostWork } from './hosts.ts';
import { publishedPools, suits, type Wish, wishOf } from './pools.ts';
import {
  insertLists,
  pickHostColumns,
  type SessionRow,
  type SetColumns,
  sessionColumns,
} from './session-row.ts';

/** New session: the values of its columns, and what else the statement that opens it needs. */
export type NewSession = SetColumns & {
  tier: BrowserTier;
  /**
   * Slug of the world if the version comes from a cache. The statement then checks that the version is still the head
   * of that world and that the world is not archived. Null if the version was just read from the database.
   */
  headOf: string | null;
  /** True if the display of the session's browser is recorded. */
  isRecorded: boolean;
};

/** Unique index that a second session with the same `Idempotency-Key` violates. */
export const sessionKeyIndex = 'sessions_idempotency';

type Fitting = {
  version: string;
  reuseWarm: string;
  wish: Wish;
  /** SQL of a further condition that the host must meet. */
  onlyIf?: string;
};

/** Builds the query for the best warm host `h` that can serve a session. */
const fittingHost = ({ version, reuseWarm, wish, onlyIf = 'true' }: Fitting): string =>
  `from hosts h
   where h.state in ${hostBefore('assigned')} and h.address is not null
     and (h.version_id is null or h.version_id = ${version})
     and ${suits('h', wish)} and ${onlyIf}
   order by case when h.version_id is null then 1 when h.uses = 0 or ${reuseWarm} then 0 else 2 end,
     h.state_since
   limit 1
   for no key update of h skip locked`;

/**
 * Builds the update of a host that gets a session. If the host had another version loaded, its state digest is cleared.
 */
const hostTakes = (session: string, version: string): string =>
  `update hosts h
      set state = 'assigned', generation = h.generation + 1, session_id = ${session},
          bundle = case when h.version_id = ${version} then h.bundle end,
          state_digest = case when h.version_id = ${version} then h.state_digest end,
          version_id = ${version}, uses = h.uses + 1, state_since = now()`;

/** Builds the condition that a waiting session `s` could get a warm host. */
const couldHave = (host: string): string =>
  `${waiting('s')} and (${host}.version_id is null or ${host}.version_id = s.version_id)
     and ${suits(host, wishOf('s'))}`;

const wanted: Wish = { tier: ':tier', isolation: ':isolation', size: ':size' };

// A session without a host has no row in `taken`.
const inserted = insertLists({
  state: "'PROVISIONING'",
  browserTier: ':tier',
  hostId: 'taken.id',
  generation: 'taken.generation',
  attempts: 'case when taken.id is null then 0 else 1 end',
  hostReused: 'coalesce(taken.reused, false)',
  traceId:
    'case when (select session_traces from projects where id = :projectId) then :traceId end',
  assignedAt: 'case when taken.id is not null then now() end',
});

const openStatement = statement(
  'open_session',
  `with known as materialized (
     select :headOf::text is null or exists (
       select from worlds w where w.id = :worldId and w.project_id = :projectId and w.slug = :headOf
          and w.head_version_id = :versionId and w.archived_at is null and w.deleted_at is null
     ) as holds
   ), offered as materialized (
     select not exists (select from ${publishedPools})
         or exists (select from ${publishedPools} where ${suits('p', wanted)}) as suits
   ), refused as materialized (
     select quota, most, retry_after_ms from refuse_open(:projectId, :mostSessions, :mostOpens)
   ), free as materialized (
     select h.id, h.version_id, h.tier, h.isolation, h.size
       ${fittingHost({
         version: ':versionId',
         reuseWarm: ':reuseWarm::boolean',
         wish: wanted,
         onlyIf:
           '(select quota is null and offered.suits and known.holds from refused, offered, known)',
       })}
   ), taken as (
     ${hostTakes(':id', ':versionId')}
     from free where h.id = free.id
      and not exists (select from sessions s where ${couldHave('free')})
     returning h.id, h.generation, h.address, h.uses > 1 as reused, free.version_id is not null as held,
       h.bundle is not null as proven
   ), opened as (
     insert into sessions (${inserted.names})
     select ${inserted.values}
     from known cross join offered cross join refused left join taken on true
    where known.holds and offered.suits and refused.quota is null
     returning *
   ), browser as (
     insert into session_browsers (session_id, tier)
     select id, :tier from opened where 'browser' = any (surfaces)
   ), due as (
     insert into trace_dues (session_id, tells_session, bytes)
     select id, true, 0 from opened where trace_id is not null
    ), recording as (
     insert into browser_recordings (session_id) select id from opened where :isRecorded::boolean
   )
   select known.holds as "isKnown", offered.suits, coalesce(taken.held, false) as "wasHeld", taken.proven as "isHeld",
     taken.generation as "hostGeneration", refused.quota, refused.most as "limit", refused.retry_after_ms as "retryAfterMs",
     ${sessionColumns({ hostAddress: 'taken.address' })}
     from known cross join offered cross join refused left join opened s on true left join taken on true`,
);

export type OpenOutcome =
  /** The opened session. `orders` is the work for the host to which it was assigned; undefined if no host was free. */
  | { session: SessionRow; start: SessionStart; orders: HostWork | undefined; refusal?: undefined }
  | { session?: undefined; refusal: QuotaRefusal | 'unsuited' | 'outdated' };

type OpenRow = SessionRow & {
  isKnown: boolean;
  suits: boolean;
  wasHeld: boolean;
  isHeld: boolean | null;
  hostGeneration: number | null;
} & { [Key in keyof QuotaRefusal]: QuotaRefusal[Key] | null };

/** Builds the work for the host of a new session without reading the host's row. */
const ordersOf = (
  { taskJson }: NewSession,
  session: SessionRow,
  { generation, isHeld }: { generation: number; isHeld: boolean },
): HostWork => ({
  kind: 'world',
  state: 'assigned',
  generation,
  sessionId: session.id,
  isLoading: false,
  isWanted: false,
  address: session.hostAddress,
  heldVersionId: session.versionId,
  session: { ...pickHostColumns({ ...session, taskJson }), isHeld },
});

/**
 * Writes a new session, and assigns a warm host if one fits. Writes nothing in three cases: a quota is used up, no
 * published pool suits the session, or its version is no longer the head of `headOf`.
 */
export const openSession = async (
  db: Queryable,
  session: NewSession,
  quotas: Quotas,
): Promise<OpenOutcome> => {
  const [row] = await db.query<OpenRow>(openStatement, {
    ...session,
    mostSessions: quotas.sessions,
    mostOpens: quotas.opensPerMinute,
  });
  if (row === undefined)
    throw new Error(`the database returned no row for the open of session ${session.id}`);
  const { isKnown, suits: isSuited, wasHeld, quota, limit, retryAfterMs, ...rest } = row;
  const { isHeld, hostGeneration: generation, ...opened } = rest;
  if (!isKnown) return { refusal: 'outdated' };
  if (!isSuited) return { refusal: 'unsuited' };
  if (quota === null || limit === null) {
    if (generation === null) return { session: opened, start: 'cold', orders: undefined };
    const orders = ordersOf(session, opened, { generation, isHeld: isHeld === true });
    return { session: opened, start: wasHeld ? 'held' : 'warm', orders };
  }
  return { refusal: { quota, limit, retryAfterMs } };
};

/**
 * Assignment made after the open: the session and its host, the requested tier, isolation and size, and the time for
 * which the session waited, in milliseconds.
 */
export type Assignment = HostWish & { sessionId: string; hostId: string; waitedMs: number };

/** SQL that assigns a host `free` to the session with the longest wait among those that the host fits. */
const longestWait = `longest as materialized (
     select s.id, s.version_id, free.id as host_id
       from free cross join lateral (
         select s.id, s.version_id from sessions s
          where ${couldHave('free')}
          order by s.created_at, s.id
          limit 1
          for no key update skip locked
       ) s
   ), taken as (
     ${hostTakes('longest.id', 'longest.version_id')}
     from longest where h.id = longest.host_id
     returning h.id, h.generation, h.session_id, h.uses > 1 as reused
   )
   update sessions s
      set host_id = taken.id, generation = taken.generation, host_reused = taken.reused,
          attempts = s.attempts + 1, assigned_at = now()
     from taken where s.id = taken.session_id
   returning s.id as "sessionId", s.host_id as "hostId", s.browser_tier as tier, s.isolation, s.size,
     (extract(epoch from now() - s.created_at) * 1000)::float8 as "waitedMs"`;

const assignSessionStatement = statement(
  'place_session',
  `with waiting as materialized (
     select s.version_id, s.reuse_warm, s.browser_tier, s.isolation, s.size from sessions s
      where s.id = $1 and ${waiting('s')} for no key update
   ), free as materialized (
     select candidate.* from waiting cross join lateral (
       select h.id, h.version_id, h.tier, h.isolation, h.size ${fittingHost({
         version: 'waiting.version_id',
         reuseWarm: 'waiting.reuse_warm',
         wish: wishOf('waiting'),
       })}
     ) candidate
   ), ${longestWait}`,
);

// If no session waits, the host is not even locked, because a concurrent open would skip a locked host and miss it.
const assignHostStatement = statement(
  'place_host',
  `with free as materialized (
     select h.id, h.version_id, h.tier, h.isolation, h.size from hosts h
      where h.id = $1 and h.state in ${hostBefore('assigned')} and h.address is not null
        and exists (select from sessions s where ${waiting('s')})
        for no key update skip locked
   ), ${longestWait}`,
);

const lockStatement = statement(
  'lock_placement',
  `select pg_advisory_xact_lock(hashtextextended('placement', 0))`,
);

const anyWarmStatement = statement(
  'any_warm_host',
  `select true from hosts h where h.kind = 'world' and h.state in ${hostBefore('assigned')} and h.address is not null limit 1`,
);

const anyWaitingStatement = statement(
  'any_waiting_session',
  `select true from sessions s where ${waiting('s')} limit 1`,
);

/** Session for which a host is sought, or host for which a session is sought. */
export type Candidate = { kind: 'session' | 'host'; id: string };

/**
 * Returns true if an assignment may be possible: for a session, if any host is warm; for a host, if any session waits.
 */
export const mayAssign = async (db: Queryable, kind: Candidate['kind']): Promise<boolean> =>
  (await db.query(kind === 'session' ? anyWarmStatement : anyWaitingStatement, [])).length > 0;

/**
 * Assigns a session to the given host. For a given session, assigns hosts to the sessions with the longest wait, until
 * the given session has a host or no host is left.
 */
const assignOne = async (tx: Queryable, { kind, id }: Candidate): Promise<Assignment[]> => {
  if (kind === 'host') return tx.query<Assignment>(assignHostStatement, [id]);
  const assigned: Assignment[] = [];
  for (;;) {
    const [next] = await tx.query<Assignment>(assignSessionStatement, [id]);
    if (next === undefined) return assigned;
    assigned.push(next);
    if (next.sessionId === id) return assigned;
  }
};

/**
 * Makes assignments in one transaction, under a lock that all replicas share. Returns the assignments made for each
 * candidate.
 */
export const assignAll = (
  db: Database,
  candidates: readonly Candidate[],
): Promise<Assignment[][]> =>
  db.transaction(async (tx) => {
    await tx.query(lockStatement, []);
    const assigned: Assignment[][] = [];
    for (const candidate of candidates) assigned.push(await assignOne(tx, candidate));
    return assigned;
  });
