/**
 * Uploads of worlds and files, and the garbage collection of blobs. An upload names the blobs of a version before they
 * are written. So the blobs count for their project, and can be found and removed if the version is never written.
 */
import type { Digest } from '#domain/world.ts';
import { until } from '#runtime/pause.ts';
import type { QuotaName, QuotaRefusal, Quotas } from '../../base/fairness/quotas.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';

type Begun = { quota: QuotaName | null; limit: number; doomed: boolean };

export type Upload = {
  id: string;
  projectId: string;
  /** True if the upload creates a world, false if it creates another version of an existing world. */
  makesWorld: boolean;
  /** Blobs that the upload needs, and their bytes. There are none while the world is being compiled. */
  blobs: readonly Digest[];
  bytes: number;
};

const beginStatement = statement(
  'begin_upload',
  `select quota, most as "limit", doomed
     from begin_upload(:id, :projectId, :blobs::text[], :bytes::bigint, :mostWorlds::int, :mostMib)`,
);

/**
 * Maximum wait for the removal of a blob that is needed again, and interval at which the removal is checked, in
 * milliseconds.
 */
const mostRemovalMs = 30_000;
const askAgainMs = 200;

/**
 * Begins an upload, or updates the blobs that it needs. If a quota forbids it, returns that quota. If one of the blobs
 * is being removed, waits for the removal outside of any transaction. Throws `timeout` if that takes too long.
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
  const what = 'the removal of a blob that the world needs';
  const row = await until(begin, { timeoutMs: mostRemovalMs, everyMs: askAgainMs, what });
  const { quota, limit } = row;
  return quota === null ? undefined : { quota, limit, retryAfterMs: null };
};

const finishStatement = statement(
  'finish_upload',
  `delete from uploads where id = $1 and began_at > '-infinity' returning id`,
);

/**
 * Ends an upload whose version is written in this transaction. Returns false if some of its blobs were
 * garbage-collected.
 */
export const finishUpload = async (tx: Queryable, id: string): Promise<boolean> =>
  (await tx.query(finishStatement, [id])).length > 0;

const abandonStatement = statement(
  'abandon_upload',
  `with gone as (delete from uploads where id = $1 and blobs = '{}')
   update uploads set began_at = '-infinity' where id = $1 and blobs <> '{}'`,
);

/** Abandons an upload whose version will not be written. Its blobs are garbage-collected. */
export const abandonUpload = async (db: Queryable, id: string): Promise<void> => {
  await db.query(abandonStatement, [id]);
};

const holdStatement = statement(
  'hold_upload',
  `update uploads set began_at = 'infinity' where id = $1 and began_at > '-infinity'`,
);

/**
 * Protects the blobs of an upload until it is abandoned. No version is made of such an upload, because that would end
 * it.
 */
export const holdUpload = async (db: Queryable, id: string): Promise<void> => {
  await db.query(holdStatement, [id]);
};

/** Age from which an upload counts as abandoned by a control plane that died, in minutes. No upload takes that long. */
const deadMinutes = 10;
/** Maximum number of blobs that are examined in one transaction and removed together. */
const mostAtOnce = 64;

const lockStatement = statement(
  'lock_blobs',
  `select pg_try_advisory_xact_lock(hashtextextended('blobs', 0)) as locked`,
);

// A version whose blobs are not known yet may need any of them, so nothing is collected meanwhile.
const staleStatement = statement(
  'find_stale_upload',
  `select id, blobs from uploads where began_at < now() - interval '${deadMinutes} minutes'
      and not exists (select from versions where blobs is null)
    order by began_at limit 1 for update skip locked`,
);

// Blobs of other abandoned uploads are not protected: those are collected later.
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
 * Marks some blobs of the oldest dead upload for removal, if nothing else refers to them. This happens in one short
 * transaction, during which no other upload can begin to need the blobs. Afterwards, an upload that needs them waits
 * until they are removed.
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

// Kept are the blobs of worlds that are not deleted, and of running or protected uploads. All others are collected
// eventually.
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

/** Returns up to `most` blobs to which only deleted worlds and dead uploads refer. */
export const listUnneeded = async (db: Queryable, most: number): Promise<Digest[]> =>
  (await db.query<{ digest: Digest }>(unneededStatement, [most])).map(({ digest }) => digest);

const removedStatement = statement(
  'forget_doomed_blobs',
  'delete from doomed_blobs where digest = any($1)',
);

/** Removes blobs that are marked for removal. Resolves only after every removal has ended. */
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
 * Garbage-collects some blobs of dead uploads: calls `remove` for blobs to which nothing refers. Until a blob is
 * removed, no upload can begin to need it. A blob whose removal fails stays marked. Returns the number of removed
 * blobs; if removals failed, throws the first error.
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
