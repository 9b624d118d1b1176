/**
 * Worlds that are being made. An upload names the blobs of a version before they are written, so that they
 * count for their project, and can be found and removed when the version never comes.
 */
import type { Digest } from '#domain/world.ts';
import { until } from '#runtime/pause.ts';
import type { QuotaName, QuotaRefusal, Quotas } from '../../base/fairness/quotas.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';

type Begun = { quota: QuotaName | null; limit: number; doomed: boolean };

export type Upload = {
  id: string;
  projectId: string;
  /** Whether it is of a new world, and not of another version of one that is there. */
  makesWorld: boolean;
  /** Blobs that it needs, and their bytes; none while it is still being compiled. */
  blobs: readonly Digest[];
  bytes: number;
};

const beginStatement = statement(
  'begin_upload',
  `select quota, most as "limit", doomed
     from begin_upload(:id, :projectId, :blobs::text[], :bytes::bigint, :mostWorlds::int, :mostMib)`,
);

/** How long a blob that is needed may take to be removed, and how often it is asked whether it is. */
const mostRemovalMs = 30_000;
const askAgainMs = 200;

/**
 * Begins an upload, or says anew what it needs; answers what forbids it, if something does. While one of
 * its blobs is being removed it waits, outside of the database; `timeout` when that takes too long.
 */
export const beginUpload = async (
  db: Queryable,
  upload: Upload,
  usual: Quotas,
): Promise<QuotaRefusal | undefined> => {
  const most = { mostWorlds: upload.makesWorld ? usual.worlds : null, mostMib: usual.blobMib };
  const begin = async (): Promise<Begun | undefined> => {
    const [row] = await db.query<Begun>(beginStatement, { ...upload, ...most });
    return row?.doomed === true ? undefined : row;
  };
  const what = 'a blob of the world that is being removed to be gone';
  const row = await until(begin, { timeoutMs: mostRemovalMs, everyMs: askAgainMs, what });
  const { quota, limit } = row;
  return quota === null ? undefined : { quota, limit, retryAfterMs: null };
};

const finishStatement = statement(
  'finish_upload',
  `delete from uploads where id = $1 and began_at > '-infinity' returning id`,
);

/** Ends an upload whose version is written in this transaction; false when any of it was collected. */
export const finishUpload = async (tx: Queryable, id: string): Promise<boolean> =>
  (await tx.query(finishStatement, [id])).length > 0;

const abandonStatement = statement(
  'abandon_upload',
  `with gone as (delete from uploads where id = $1 and blobs = '{}')
   update uploads set began_at = '-infinity' where id = $1 and blobs <> '{}'`,
);

/** Gives up an upload whose version will not come; what it had written is collected. */
export const abandonUpload = async (db: Queryable, id: string): Promise<void> => {
  await db.query(abandonStatement, [id]);
};

const holdStatement = statement(
  'hold_upload',
  `update uploads set began_at = 'infinity' where id = $1 and began_at > '-infinity'`,
);

/** Holds what an upload has stored until it is given up: it has no end of its own, as that of a version has. */
export const holdUpload = async (db: Queryable, id: string): Promise<void> => {
  await db.query(holdStatement, [id]);
};

/** An upload that is this old is of a control plane that died: none takes so long. */
const deadMinutes = 10;
/** Blobs that are looked at in one go, and removed at once. */
const mostAtOnce = 64;

const lockStatement = statement(
  'lock_blobs',
  `select pg_try_advisory_xact_lock(hashtextextended('blobs', 0)) as locked`,
);

// Whose blobs are not known yet may have any of them.
const staleStatement = statement(
  'find_stale_upload',
  `select id, blobs from uploads where began_at < now() - interval '${deadMinutes} minutes'
      and not exists (select from versions where blobs is null)
    order by began_at limit 1 for update skip locked`,
);

// What others left counts no more than this: their turn comes.
const doomStatement = statement(
  'doom_blobs',
  `insert into doomed_blobs (digest)
   select blob from unnest($2::text[]) blob
    where not exists (select from versions v where v.blobs @> array[blob])
      and not exists (select from uploads u
                       where u.began_at > '-infinity' and u.id <> $1 and u.blobs @> array[blob])
      and not exists (select from files f where f.digest = blob)
      and not exists (select from media m where m.digest = blob)
   on conflict do nothing`,
);

const shortenStatement = statement(
  'shorten_upload',
  `with gone as (delete from uploads where id = $1 and cardinality($2::text[]) = 0)
   update uploads set blobs = $2, began_at = '-infinity'
    where id = $1 and cardinality($2::text[]) > 0`,
);

/**
 * Dooms what nothing else has of some of what the longest dead upload left. It is decided in one short
 * transaction, in which no upload can begin to need it; from then on none can before it is removed.
 */
const doomBlobs = (db: Database): Promise<void> =>
  db.transaction(async (tx) => {
    const [lock] = await tx.query<{ locked: boolean }>(lockStatement, []);
    if (lock?.locked !== true) return;
    const [stale] = await tx.query<{ id: string; blobs: Digest[] }>(staleStatement, []);
    if (stale === undefined) return;
    await tx.query(doomStatement, [stale.id, stale.blobs.slice(0, mostAtOnce)]);
    await tx.query(shortenStatement, [stale.id, stale.blobs.slice(mostAtOnce)]);
  });

const doomedStatement = statement(
  'lock_doomed_blobs',
  `select digest from doomed_blobs order by digest limit ${mostAtOnce} for update skip locked`,
);

// What worlds have that are not deleted stays, and what is being sent or held; all else goes, sooner or later.
const unneededStatement = statement(
  'list_unneeded_blobs',
  `select digest from (
     select distinct blob as digest
       from (select v.blobs from worlds w join versions v on v.world_id = w.id where w.deleted_at is not null
             union all
             select u.blobs from uploads u where u.began_at < now() - interval '${deadMinutes} minutes') gone,
            unnest(gone.blobs) blob
     union select digest from doomed_blobs) listed
    where not exists (select from versions v join worlds w on w.id = v.world_id
                       where v.blobs @> array[listed.digest] and w.deleted_at is null)
      and not exists (select from uploads u where u.blobs @> array[listed.digest]
                         and u.began_at >= now() - interval '${deadMinutes} minutes')
      and not exists (select from files f where f.digest = listed.digest)
      and not exists (select from media m where m.digest = listed.digest)
    limit $1`,
);

/** Blobs that nothing needs but deleted worlds and dead uploads, so many of them at most. */
export const listUnneeded = async (db: Queryable, most: number): Promise<Digest[]> =>
  (await db.query<{ digest: Digest }>(unneededStatement, [most])).map(({ digest }) => digest);

const removedStatement = statement(
  'forget_doomed_blobs',
  'delete from doomed_blobs where digest = any($1)',
);

/** Removes doomed blobs; nothing is left under way when it is done. */
const removeDoomed = async (
  tx: Queryable,
  remove: (blob: Digest) => Promise<void>,
): Promise<{ removed: number; failures: unknown[] }> => {
  const doomed = await tx.query<{ digest: Digest }>(doomedStatement, []);
  const ends = await Promise.allSettled(doomed.map(({ digest }) => remove(digest)));
  const removed = doomed.filter((_, index) => ends[index]?.status === 'fulfilled');
  if (removed.length > 0) {
    await tx.query(removedStatement, [removed.map(({ digest }) => digest)]);
  }
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  return { removed: removed.length, failures };
};

/**
 * Collects some of what dead uploads left: `remove` is given blobs that nothing has and nothing can have
 * before it is done. What it fails to remove stays doomed until it is. Answers how many those were.
 */
export const collectUpload = async (
  db: Database,
  remove: (blob: Digest) => Promise<void>,
): Promise<number> => {
  await doomBlobs(db);
  const { removed, failures } = await db.transaction((tx) => removeDoomed(tx, remove));
  if (failures.length > 0) throw failures[0];
  return removed;
};
