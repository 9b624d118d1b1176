/**
 * Queries for gateways: the address at which a session is served, and the validity of links to the session's surfaces.
 */
import type { EndReason, LinkScope, SessionState, SurfaceKind } from '#domain/session.ts';
import type { QuotaRefusal } from '../../base/fairness/quotas.ts';
import { type Queryable, statement } from '../core/database.ts';

export type RouteRow = {
  id: string;
  state: SessionState;
  endReason: EndReason | null;
  surfaces: SurfaceKind[];
  /** Base address of the API server on the session's host; null if no host serves the session. */
  hostAddress: string | null;
  /** Base address of the session's browser; null if no browser accepts clients. */
  browserAddress: string | null;
  /** Values from which the session's token is derived. */
  createdAt: Date;
  secretMark: string | null;
};

const findStatement = statement(
  'find_route',
  `select s.id, s.state, s.end_reason as "endReason", s.surfaces, h.address as "hostAddress", bh.address as "browserAddress",
          s.created_at as "createdAt", s.secret_mark as "secretMark"
     from sessions s
     left join hosts h on h.id = s.host_id and h.session_id = s.id
     left join session_browsers b on b.session_id = s.id and b.ready_at is not null
     left join hosts bh on bh.id = b.host_id
    where s.id = $1`,
);

/** Returns a session of any project; undefined if there is none with this id. */
export const findRoute = async (db: Queryable, sessionId: string): Promise<RouteRow | undefined> =>
  (await db.query<RouteRow>(findStatement, [sessionId]))[0];

const insertStatement = statement(
  'insert_surface_link',
  `with stale as (
     delete from surface_links where token_hash in (
       select token_hash from surface_links where expires_at < now() limit 100 for update skip locked
     )
   ), refused as materialized (
     select refuse_link(s.project_id, :usual) as most from sessions s where s.id = :sessionId
   ), made as (
     insert into surface_links (token_hash, session_id, surface, opens, expires_at)
     select :tokenHash, :sessionId, :surface, :opens, now() + :lifeMs * interval '1 millisecond' from refused where most is null
     returning expires_at
   )
   select refused.most, made.expires_at as "expiresAt" from refused left join made on true`,
);

export type SurfaceLink = { sessionId: string; surface: SurfaceKind; tokenHash: Buffer };

/**
 * Inserts a link that can be used once within `lifeMs` milliseconds. Returns the time at which it expires; if a quota
 * forbids the link, returns that quota.
 */
export const insertLink = async (
  db: Queryable,
  link: SurfaceLink & { opens: LinkScope },
  bounds: { lifeMs: number; usual: number },
): Promise<Date | QuotaRefusal> => {
  type Kept = { expiresAt: Date | null; most: number | null };
  const [row] = await db.query<Kept>(insertStatement, { ...link, ...bounds });
  if (row?.most != null) return { quota: 'links', limit: row.most, retryAfterMs: null };
  if (row?.expiresAt == null)
    throw new Error(`the database returned no row for an inserted link to ${link.sessionId}`);
  return row.expiresAt;
};

const consumeStatement = statement(
  'consume_surface_link',
  `delete from surface_links
    where token_hash = :tokenHash and session_id = :sessionId and surface = :surface and expires_at > now()
   returning opens`,
);

/**
 * Uses up a link and returns its scope. Returns undefined if the link was used before, has expired, or belongs to
 * another session or surface.
 */
export const consumeLink = async (
  db: Queryable,
  link: SurfaceLink,
): Promise<LinkScope | undefined> =>
  (await db.query<{ opens: LinkScope }>(consumeStatement, link))[0]?.opens;
