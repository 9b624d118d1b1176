/**
 * Browsers of sessions: the sessions that wait for one, the assignments, and the checkpoints from which a replacement
 * browser resumes. The host of a browser is a row of `hosts`; `session_browsers` names the session and the generation
 * of the host.
 */
import type { HostEnd } from '#domain/host.ts';
import { browserSize } from '#domain/pool.ts';
import type { BrowserTier, SessionState, SurfaceKind } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import { hostBefore, openSessionStates } from '../core/states.ts';
import type { SessionHost } from './calls.ts';
import { publishedPools } from './pools.ts';

/**
 * Maximum number of consecutive browsers of a session that fail to become ready. After that, the session gets no more
 * browsers.
 */
const mostAttempts = 8;

/** Builds the condition that the browser `b` of the session `s` waits for a host. */
export const waitsForBrowser = (browser: string, session: string): string =>
  `${browser}.host_id is null and ${browser}.attempts < ${mostAttempts}
     and ${session}.state in ${openSessionStates}`;

/**
 * SQL that counts the sessions whose browser has no host: those that wait for one, and those that get no more browsers.
 */
export const browsersLoad = `(
  select json_build_object(
      'waiting', count(*) filter (where b.attempts < ${mostAttempts}),
      'givenUp', count(*) filter (where b.attempts >= ${mostAttempts}),
      'longestWaitMs', coalesce(extract(epoch from now() - min(b.wanted_since)
        filter (where b.attempts < ${mostAttempts})) * 1000, 0)::float8)
    from session_browsers b join sessions s on s.id = b.session_id
   where b.host_id is null and s.state in ${openSessionStates})`;

/**
 * State of a session's browser, as readers of the session see it. `hostId` is null while no host serves the browser.
 */
export type SessionBrowser = {
  hostId: string | null;
  /**
   * Address for clients: the address of the first browser that became ready, for as long as later browsers can use the
   * same address; null if no browser has become ready.
   */
  address: string | null;
  isReady: boolean;
  /** Reason why the previous browser was lost; null if none was lost. */
  lost: string | null;
  isGivenUp: boolean;
};

/**
 * SQL for the browser of the session `s`; null if the session has none. Sessions without a browser surface need no
 * lookup.
 */
export const browserColumn = (session: string): string =>
  `case when 'browser' = any (${session}.surfaces) then (
     select json_build_object('hostId', b.host_id, 'address', b.address, 'isReady', b.ready_at is not null,
                              'lost', b.lost, 'isGivenUp', b.host_id is null and b.attempts >= ${mostAttempts})
       from session_browsers b where b.session_id = ${session}.id) end`;

const lockStatement = statement(
  'lock_browser_placement',
  `select pg_advisory_xact_lock(hashtextextended('browser placement', 0))`,
);

const anyPairStatement = statement(
  'any_browser_pair',
  `select exists (select from hosts where kind = 'browser' and state in ${hostBefore('assigned')} and address is not null)
      and exists (select from session_browsers b join sessions s on s.id = b.session_id
                   where ${waitsForBrowser('b', 's')}) as any`,
);

/** Returns true if there may be a warm browser and a session that waits for a browser. */
export const mayAssignBrowser = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ any: boolean }>(anyPairStatement, []))[0]?.any === true;

const assignStatement = statement(
  'place_browser',
  `with pair as materialized (
     select b.session_id, free.id as host_id
       from session_browsers b join sessions s on s.id = b.session_id
      cross join lateral (
        select h.id from hosts h
         where h.kind = 'browser' and h.state in ${hostBefore('assigned')} and h.address is not null
           and (h.tier is null or h.tier = b.tier)
         order by h.state_since limit 1 for no key update of h skip locked) free
      where ${waitsForBrowser('b', 's')}
      order by b.wanted_since, b.session_id
      limit 1
   ), taken as (
     update hosts h
        set state = 'assigned', generation = h.generation + 1, session_id = pair.session_id,
            uses = h.uses + 1, state_since = now()
       from pair where h.id = pair.host_id
     returning h.id, h.generation, h.session_id
   )
   update session_browsers b
      set host_id = taken.id, generation = taken.generation, attempts = b.attempts + 1, assigned_at = now()
     from taken where b.session_id = taken.session_id
   returning b.session_id as "sessionId", b.host_id as "hostId",
     (extract(epoch from now() - b.wanted_since) * 1000)::float8 as "waitedMs"`,
);

export type AssignedBrowser = { sessionId: string; hostId: string; waitedMs: number };

/**
 * Locks the assignment of browsers until the transaction ends, so that only one transaction at a time assigns browsers.
 */
export const lockBrowserAssignment = async (tx: Queryable): Promise<void> => {
  await tx.query(lockStatement, []);
};

/**
 * Assigns a warm browser to the session that has waited longest. Returns undefined if no browser is warm or no session
 * waits.
 */
export const assignBrowser = async (tx: Queryable): Promise<AssignedBrowser | undefined> =>
  (await tx.query<AssignedBrowser>(assignStatement, []))[0];

/** Work for the host of a browser. */
export type BrowserWork = {
  sessionId: string;
  generation: number;
  state: SessionState;
  tier: BrowserTier;
  surfaces: SurfaceKind[];
  lost: string | null;
  address: string | null;
  checkpoint: string | null;
  /**
   * Number of the next part of the session's recording; null if the session is not recorded, or the recording was cut
   * off.
   */
  nextPart: number | null;
  /** Address of the world host of the session; null if it has none. */
  worldAddress: string | null;
  createdAt: Date;
  secretMark: string | null;
};

const workStatement = statement(
  'browser_orders',
  `select s.id as "sessionId", b.generation, s.state, b.tier, s.surfaces, b.lost,
          b.address, c.content as checkpoint, r.next_part as "nextPart", w.address as "worldAddress", s.created_at as "createdAt",
          s.secret_mark as "secretMark"
     from session_browsers b join sessions s on s.id = b.session_id
     left join hosts w on w.id = s.host_id
     left join browser_checkpoints c on c.session_id = s.id
     left join browser_recordings r on r.session_id = s.id and r.cut_at is null
    where b.host_id = $1`,
);

/** Returns the session that is assigned to a browser's host; undefined if none is. */
export const findBrowserWork = async (
  db: Queryable,
  hostId: string,
): Promise<BrowserWork | undefined> => (await db.query<BrowserWork>(workStatement, [hostId]))[0];

const own = `b.session_id = :sessionId and b.host_id = :hostId and b.generation = :generation`;

const readyStatement = statement(
  'browser_ready',
  `update session_browsers b
      set ready_at = coalesce(b.ready_at, now()), attempts = 0,
          address = case when :address::text = b.address then b.address else h.address end
     from hosts h
    where ${own} and h.id = b.host_id
   returning (extract(epoch from now() - b.wanted_since) * 1000)::float8 as "waitedMs", b.lost`,
);

/** Records that a session's browser accepts clients. Returns undefined if the host is not assigned to the session. */
export const makeBrowserReady = async (
  db: Queryable,
  browser: SessionHost,
  address: string | null,
): Promise<{ waitedMs: number; lost: string | null } | undefined> =>
  (
    await db.query<{ waitedMs: number; lost: string | null }>(readyStatement, {
      ...browser,
      address,
    })
  )[0];

const stateStatement = statement(
  'browser_session_state',
  `select s.state from session_browsers b join sessions s on s.id = b.session_id where ${own}`,
);

/** Returns the state of the session that a browser serves; undefined if the browser does not serve the session. */
export const findBrowserState = async (
  db: Queryable,
  browser: SessionHost,
): Promise<SessionState | undefined> =>
  (await db.query<{ state: SessionState }>(stateStatement, browser))[0]?.state;

const servedStatement = statement(
  'is_served_by_browser',
  'select exists (select from session_browsers where session_id = $1 and host_id is not null) as served',
);

/** Returns true if a browser serves the session, or has not yet confirmed that it ended the session. */
export const isServedByBrowser = async (db: Queryable, sessionId: string): Promise<boolean> =>
  (await db.query<{ served: boolean }>(servedStatement, [sessionId]))[0]?.served === true;

const keepStatement = statement(
  'keep_checkpoint',
  `with browser as (select b.session_id from session_browsers b where ${own}), kept as (
     insert into browser_checkpoints as c (session_id, generation, sequence, content)
     select session_id, :generation, :sequence, :content from browser
     on conflict (session_id) do update
        set generation = excluded.generation, sequence = excluded.sequence, content = excluded.content, kept_at = now()
      where (c.generation, c.sequence) < (excluded.generation, excluded.sequence)
         or c.kept_at < (select b.assigned_at from session_browsers b where ${own})
   )
   select true from browser`,
);

/**
 * Stores a checkpoint, unless a newer one is stored. Returns false if the checkpoint does not come from the session's
 * browser.
 */
export const keepCheckpoint = async (
  db: Queryable,
  checkpoint: SessionHost & { sequence: number; content: string },
): Promise<boolean> => (await db.query(keepStatement, checkpoint)).length > 0;

const loseStatement = statement(
  'lose_browser',
  `update session_browsers b
      set host_id = null, generation = null, ready_at = null, assigned_at = null, lost = :reason, wanted_since = now()
    where b.host_id = :hostId
   returning b.session_id as "sessionId"`,
);

/**
 * Makes a session that lost its browser wait for another one. Returns the id of the session; undefined if this host had
 * no session.
 */
export const loseBrowser = async (
  tx: Queryable,
  hostId: string,
  reason: HostEnd | string,
): Promise<string | undefined> =>
  (await tx.query<{ sessionId: string }>(loseStatement, { hostId, reason }))[0]?.sessionId;

const forgetStatement = statement(
  'forget_browser',
  `with browser as (delete from session_browsers where session_id = $1)
   delete from browser_checkpoints where session_id = $1`,
);

/** Deletes the browser and the checkpoint of a session that has ended. */
export const forgetBrowser = async (tx: Queryable, sessionId: string): Promise<void> => {
  await tx.query(forgetStatement, [sessionId]);
};

const forgetEndedStatement = statement(
  'forget_ended_browsers',
  `with ended as materialized (
     select b.session_id from session_browsers b join sessions s on s.id = b.session_id
      where b.host_id is null and s.closed_at is not null limit 200
   ), browser as (
     delete from session_browsers b using ended where b.session_id = ended.session_id and b.host_id is null
     returning b.session_id
   )
   delete from browser_checkpoints c using browser where c.session_id = browser.session_id`,
);

/** Deletes the browsers and checkpoints of sessions that ended while no browser served them, up to 200 at a time. */
export const forgetEndedBrowsers = async (db: Queryable): Promise<void> => {
  await db.query(forgetEndedStatement, []);
};

const leftStatement = statement(
  'left_browsers',
  `select b.host_id as "hostId" from session_browsers b join sessions s on s.id = b.session_id
    where b.host_id is not null and s.closed_at < now() - :overMs * interval '1 millisecond' limit 200`,
);

/** Returns hosts of browsers that have not confirmed the end of their session `overMs` milliseconds after that end. */
export const findLeftBrowsers = async (db: Queryable, overMs: number): Promise<string[]> =>
  (await db.query<{ hostId: string }>(leftStatement, { overMs })).map(({ hostId }) => hostId);

const touchStatement = statement(
  'touch_by_browser',
  `update sessions s
      set last_activity_at = greatest(s.last_activity_at, now() - :idleMs * interval '1 millisecond')
     from session_browsers b where s.id = b.session_id and ${own}`,
);

/** Records activity that a browser reported: a client or viewer was active `idleMs` milliseconds ago. */
export const noteBrowserActivity = async (
  db: Queryable,
  browser: SessionHost,
  idleMs: number,
): Promise<void> => {
  await db.query(touchStatement, { ...browser, idleMs });
};

const offeredStatement = statement(
  'browsers_offered',
  `select not exists (select from ${publishedPools})
       or exists (select from ${publishedPools} where p.size = '${browserSize}' and (p.tier is null or p.tier = $1)) as offered`,
);

/** Returns true if a pool offers browsers for sessions of this tier, or no pools are published at all. */
export const areBrowsersOffered = async (db: Queryable, tier: BrowserTier): Promise<boolean> =>
  (await db.query<{ offered: boolean }>(offeredStatement, [tier]))[0]?.offered === true;
