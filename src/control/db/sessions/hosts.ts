/** Rows of hosts: the intent to launch a host, its reports, and its work. */
import { withoutNul } from '#domain/cut.ts';
import type { HostEnd, HostKind, HostState } from '#domain/host.ts';
import type { HostAddressing } from '#domain/host-address.ts';
import { type HostOffer, kindOfSize } from '#domain/pool.ts';
import type { Digest } from '#domain/world.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { hostBefore, liveHosts, waiting } from '../core/states.ts';
import { waitsForBrowser } from './browsers.ts';
import { type HostColumns, hostColumnList, pickHostColumns } from './session-row.ts';

export type NewHost = HostOffer & {
  id: string;
  installation: string;
  pool: string;
  /** Name of the runtime driver, shown to operators. */
  runtime: string;
  /** Way in which the host gets its address; absent if an orchestrator of the previous release registers the host. */
  addressing?: HostAddressing | undefined;
  /** Maximum number of live hosts of the pool, including this one. */
  maxLive: number;
};

const lockPoolStatement = statement(
  'lock_pool',
  `select pg_advisory_xact_lock(hashtextextended(:installation || '/' || :pool, 0))`,
);

const insertHostStatement = statement(
  'insert_host',
  `with host as (
     insert into hosts (id, installation, pool, runtime, addressing, tier, isolation, size, kind, state)
     select :id, :installation, :pool, :runtime, :addressing, :tier, :isolation, :size, :kind, 'starting'
      where (select count(*) from hosts
              where installation = :installation and pool = :pool and state in ${liveHosts}) < :maxLive
     returning id
   )
   insert into beats (host_id) select id from host returning host_id`,
);

/** Records the intent to launch a host; returns false if the pool is full. */
export const insertHost = (db: Database, host: NewHost): Promise<boolean> =>
  db.transaction(async (tx) => {
    // The count must be taken after the lock is held, so these are two statements.
    await tx.query(lockPoolStatement, host);
    const kind = kindOfSize(host.size);
    const { addressing = null } = host;
    return (await tx.query(insertHostStatement, { ...host, addressing, kind })).length > 0;
  });

const launchedStatement = statement(
  'host_launched',
  `update hosts
      set launched_at = coalesce(launched_at, now()), runtime_id = coalesce(:runtimeId, runtime_id),
          address = case when :runtimeId::text is not null and launched_at is not null then address
                         when :isNowhere and state <> 'assigned' then :address
                         else coalesce(:address, address) end
    where id = :hostId and state in ${liveHosts}
   returning session_id as "sessionId"`,
);

/** Container of a host, as reported by its runtime. */
export type LaunchedHost = {
  hostId: string;
  /** Id of the container at the runtime; undefined except in the report of the launch. */
  runtimeId: string | undefined;
  /** Current address of the container; null if it has none, undefined if the runtime does not report it. */
  address: string | null | undefined;
};

/**
 * Records that the container of a host exists, or that its address has changed. Returns undefined if the host is
 * unknown or gone. A repeated launch report has no effect. If the runtime reports no address for a host that serves a
 * session, the stored address stays.
 */
export const noteLaunched = async (
  db: Queryable,
  { hostId, runtimeId, address }: LaunchedHost,
): Promise<{ sessionId: string | null } | undefined> => {
  const values = { hostId, runtimeId: runtimeId ?? null, address: address ?? null };
  const isNowhere = address === null;
  const rows = await db.query<{ sessionId: string | null }>(launchedStatement, {
    ...values,
    isNowhere,
  });
  return rows[0];
};

/** Columns of a host's row that decide whether the control plane accepts a message of that host. */
export type HostStatus = {
  kind: HostKind;
  state: HostState;
  generation: number;
  sessionId: string | null;
  /** True if the host is preloading a version, before any session needs the version. */
  isLoading: boolean;
};

/**
 * SQL condition that the host `h` is preloading a version. A host that recycles after a session, in contrast, has a
 * bundle, and must prove that it still has that bundle loaded.
 */
const isLoading = "(h.state = 'recycling' and h.bundle is null)";

const statusColumns = `h.kind, h.state, h.generation, h.session_id as "sessionId", ${isLoading} as "isLoading"`;

const statusStatement = statement(
  'host_standing',
  `select ${statusColumns} from hosts h where h.id = $1`,
);

export const findHostStatus = async (
  db: Queryable,
  hostId: string,
): Promise<HostStatus | undefined> => (await db.query<HostStatus>(statusStatement, [hostId]))[0];

const addressStatement = statement(
  'host_address',
  `select h.runtime, h.addressing, h.state, h.address, h.source_address as source, h.renews_token as renews, b.renewed
     from hosts h join beats b on b.host_id = h.id where h.id = $1`,
);

/** Addresses of a host, and the state of its tokens. */
export type HostWhereabouts = {
  runtime: string;
  /** Way in which the host gets its address; null if a program of the previous release registered the host. */
  addressing: HostAddressing | null;
  state: HostState;
  address: string | null;
  /** Address from which requests of the host come; null if it is not fixed. */
  source: string | null;
  /** `renews` is true if the host renews its token, `renewed` if it has used a renewed token. */
  renews: boolean;
  renewed: boolean;
};

export const findWhereabouts = async (
  db: Queryable,
  hostId: string,
): Promise<HostWhereabouts | undefined> =>
  (await db.query<HostWhereabouts>(addressStatement, [hostId]))[0];

const renewedStatement = statement(
  'host_renewed',
  `update beats set renewed = true where host_id = $1`,
);

/** Records that a host has used the token that it renewed. The first token of the host becomes invalid. */
export const noteRenewed = async (db: Queryable, hostId: string): Promise<void> => {
  await db.query(renewedStatement, [hostId]);
};

export type WarmReport = {
  hostId: string;
  generation: number;
  address?: string | undefined;
  /** Address from which the report came. */
  source: string;
  /** True if the host renews its token. */
  renews?: boolean | undefined;
  /** Load of the host, after it recycled or preloaded a version; undefined if it has loaded nothing. */
  holding?: { bundle: string; stateDigest: string } | undefined;
  /** Leftovers of the last session that a recycled host found, rows excepted; empty if it is clean. */
  found?: readonly string[] | undefined;
};

// The report also counts as a heartbeat.
const warmStatement = statement(
  'host_warm',
  `with host as (
   update hosts h
      set state = 'warm', state_since = now(),
          address = case when h.state = 'starting' then coalesce(h.address, :address) else h.address end,
          source_address = case when h.state = 'starting' then :source else h.source_address end,
          renews_token = case when h.state = 'starting' then :renews::boolean else h.renews_token end,
          bundle = case when h.version_id is not null then :bundle::text end,
          state_digest = case when h.version_id is not null then :stateDigest::text end
    where h.id = :hostId and h.generation = :generation and h.state in ${hostBefore('warm')}
      and case when h.version_id is null then true
               when ${isLoading}
               then :stateDigest::text is not null and :bundle::text = (select v.bundle from versions v where v.id = h.version_id)
               else h.bundle = :bundle::text and h.state_digest = :stateDigest::text and :isClean end
   returning h.id, h.kind
   ), beat as (
     update beats set last_seen_at = now() from host where beats.host_id = host.id
   )
   select kind from host`,
);

/**
 * Makes a host warm. The first report of the host also records its address and the address from which the report came.
 * Returns the kind of the host. Returns undefined if the host may not become warm, or did not prove that it is clean.
 * After a host preloaded a version, it must prove from then on that it has that version loaded.
 */
export const makeWarm = async (
  db: Queryable,
  report: WarmReport,
): Promise<HostKind | undefined> => {
  const { hostId, generation, address = null, holding, source, found, renews = false } = report;
  const { bundle = null, stateDigest = null } = holding ?? {};
  const isClean = found?.length === 0;
  const values = { hostId, generation, address, source, renews, bundle, stateDigest, isClean };
  return (await db.query<{ kind: HostKind }>(warmStatement, values))[0]?.kind;
};

const drainUncleanStatement = statement(
  'host_not_clean',
  `update hosts set state = 'draining', state_since = now(), end_reason = :reason, end_detail = :detail
    where id = :hostId and generation = :generation and state = 'recycling'
   returning id`,
);

/** Drains a host that recycled but is not clean. `detail` describes what was found, for operators. */
export const drainUnclean = async (
  db: Queryable,
  { hostId, generation, detail }: { hostId: string; generation: number; detail: string },
): Promise<boolean> => {
  const reason: HostEnd = 'not_clean';
  const end = { hostId, generation, reason, detail: withoutNul(detail) };
  return (await db.query(drainUncleanStatement, end)).length > 0;
};

const loadStatement = statement(
  'load_host',
  `update hosts h
      set state = 'recycling', generation = h.generation + 1, version_id = v.id, state_since = now()
     from versions v
    where v.id = :versionId and h.id = :hostId and h.state = 'warm' and h.version_id is null
   returning h.id`,
);

/**
 * Starts to preload a version on a blank warm host. Returns false if the host is not blank and warm, or the version
 * does not exist.
 */
export const beginLoad = async (
  db: Queryable,
  hostId: string,
  versionId: string,
): Promise<boolean> => (await db.query(loadStatement, { hostId, versionId })).length > 0;

const loadFailedStatement = statement(
  'host_load_failed',
  `update hosts h
      set state = 'draining', state_since = now(), end_reason = :reason, end_detail = :detail
    where h.id = :hostId and h.generation = :generation and ${isLoading}
   returning h.id`,
);

/** Drains a host that failed to preload a version. Returns false if the host is not preloading a version. */
export const drainUnloaded = async (
  db: Queryable,
  { hostId, generation, detail }: { hostId: string; generation: number; detail: string },
): Promise<boolean> => {
  const reason: HostEnd = 'load_failed';
  const end = { hostId, generation, reason, detail: withoutNul(detail) };
  return (await db.query(loadFailedStatement, end)).length > 0;
};

const beatStatement = statement(
  'host_beat',
  `with host as (
     select h.id, ${statusColumns}, h.address from hosts h
      where h.id = :hostId and h.generation between :generation - 1 and :generation + 1 and h.state in ${liveHosts}
   ), beat as (
     update beats set last_seen_at = now(), rss_bytes = coalesce(:rssBytes, rss_bytes)
       from host where beats.host_id = host.id
   )
   select kind, state, generation, "sessionId", "isLoading", address from host`,
);

/** Host that sent a heartbeat, with its address; null if that is not known. */
export type Heartbeat = HostStatus & { address: string | null };

/**
 * Records a heartbeat. A heartbeat may have been sent before the host learnt of an assignment or its end, so one
 * generation behind is accepted. A host that is about to report an end is one generation ahead, which is also accepted.
 * For any other generation, or a host that is gone, returns undefined.
 */
export const recordHeartbeat = async (
  db: Queryable,
  host: { hostId: string; generation: number; rssBytes: number | null },
): Promise<Heartbeat | undefined> => (await db.query<Heartbeat>(beatStatement, host))[0];

/** Work for a polling host. */
export type HostWork = HostStatus & {
  /** Base address of the host's API server; null until it is known. */
  address: string | null;
  /** True if a session waits for a host of this kind. */
  isWanted: boolean;
  /** Version that the host has loaded or must load; null if it is blank. */
  heldVersionId: string | null;
  /**
   * Session that the host serves; null if none. `isHeld` is true if the host had the session's version loaded before.
   */
  session: (HostColumns & { isHeld: boolean }) | null;
};

type WorkRow = Omit<HostWork, 'session'> & { isHeld: boolean } & HostColumns;

const workStatement = statement(
  'host_orders',
  `select ${statusColumns}, h.address, h.version_id as "heldVersionId", h.bundle is not null as "isHeld",
          case h.kind when 'world' then exists (select from sessions s where ${waiting('s')})
                      else exists (select from session_browsers b join sessions s on s.id = b.session_id
                                    where ${waitsForBrowser('b', 's')}) end as "isWanted",
          ${hostColumnList}
     from hosts h left join sessions s on s.id = h.session_id
    where h.id = $1`,
);

/** Reads the work for a host. Returns undefined if the host does not exist. */
export const findHostWork = async (
  db: Queryable,
  hostId: string,
): Promise<HostWork | undefined> => {
  const [row] = await db.query<WorkRow>(workStatement, [hostId]);
  if (row === undefined) return undefined;
  const { kind, state, generation, sessionId, isLoading: loads, isHeld } = row;
  const { isWanted, heldVersionId, address } = row;
  const session = sessionId === null ? null : { ...pickHostColumns(row), isHeld };
  const status = { kind, state, generation, sessionId, isLoading: loads };
  return { ...status, isWanted, heldVersionId, address, session };
};

const blobStatement = statement(
  'host_blob',
  `select true from hosts h join versions v on v.id = h.version_id
     left join sessions s on s.id = h.session_id
    where h.id = :hostId and ((h.state = 'assigned' and s.ready_at is null) or ${isLoading})
      and :digest in (v.bundle, v.snapshot)`,
);

/** Returns true if the blob belongs to the world version that the host still has to load. */
export const mayReadBlob = async (
  db: Queryable,
  hostId: string,
  digest: Digest,
): Promise<boolean> => (await db.query(blobStatement, { hostId, digest })).length > 0;
