/**
 * Worlds that are being made. An upload names the blobs of a version before they are written, so that they
 * count for their project, and can be found and removed when the version never comes.
 */
import type { Digest } from '#domain/world.ts';
import { type Database, type Queryable, statement } from './pool.ts';
import type { QuotaRefusal, Quotas } from './quotas.ts';

export type Upload = {
  id: string;
  projectId: string;
  /** Blobs that it needs, and their bytes; none while it is still being compiled. */
  blobs: readonly Digest[];
  bytes: number;
};

const beginStatement = statement(
  'begin_upload',
  'select quota, most as "limit" from begin_upload($1, $2, $3::text[], $4::bigint, $5, $6)',
);

/** Begins an upload, or says anew what it needs; answers what forbids it, if something does. */
export const beginUpload = async (
  db: Queryable,
  { id, projectId, blobs, bytes }: Upload,
  usual: Quotas,
): Promise<QuotaRefusal | undefined> => {
  const values = [id, projectId, blobs, bytes, usual.worlds, usual.blobMib];
  const [row] = await db.query<Omit<QuotaRefusal, 'retryAfterMs'>>(beginStatement, values);
  return row?.quota == null ? undefined : { ...row, retryAfterMs: null };
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

/** An upload that is this old is of a control plane that died: none takes so long. */
const deadMinutes = 10;
/** Blobs that are removed in one go: nobody begins an upload meanwhile. */
const mostAtOnce = 64;

const lockStatement = statement(
  'lock_blobs',
  `select pg_try_advisory_xact_lock(hashtextextended('blobs', 0)) as locked`,
);

const staleStatement = statement(
  'find_stale_upload',
  `select id, blobs from uploads where began_at < now() - interval '${deadMinutes} minutes'
    order by began_at limit 1 for update skip locked`,
);

const unusedStatement = statement(
  'find_unused_blobs',
  `select blob from unnest($2::text[]) blob
    where not exists (select from versions v where v.blobs @> array[blob])
      and not exists (select from uploads u where u.id <> $1 and u.blobs @> array[blob])`,
);

const shortenStatement = statement(
  'shorten_upload',
  `with gone as (delete from uploads where id = $1 and cardinality($2::text[]) = 0)
   update uploads set blobs = $2, began_at = '-infinity'
    where id = $1 and cardinality($2::text[]) > 0`,
);

/**
 * Collects some of what the longest dead upload left: `remove` is given blobs that nothing else has, while
 * no upload can begin to need them. Answers how many those were; undefined when there is nothing to collect.
 */
export const collectUpload = (
  db: Database,
  remove: (blobs: readonly Digest[]) => Promise<void>,
): Promise<number | undefined> =>
  db.transaction(async (tx) => {
    const [lock] = await tx.query<{ locked: boolean }>(lockStatement, []);
    if (lock?.locked !== true) return undefined;
    const [stale] = await tx.query<{ id: string; blobs: Digest[] }>(staleStatement, []);
    if (stale === undefined) return undefined;
    const now = stale.blobs.slice(0, mostAtOnce);
    const unused = await tx.query<{ blob: Digest }>(unusedStatement, [stale.id, now]);
    await remove(unused.map(({ blob }) => blob));
    await tx.query(shortenStatement, [stale.id, stale.blobs.slice(mostAtOnce)]);
    return unused.length;
  });
