/**
 * Pending uploads of a project, either files or media of traces. A row of `uploads` with the same id reserves their
 * bytes. Until the pending upload is confirmed or given up, the bytes count for the project and are not
 * garbage-collected.
 */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

export type AwaitedRow = {
  id: string;
  projectId: string;
  /** Path of a file; null for media. */
  path: string | null;
  digest: Digest;
  bytes: number;
  contentType: string;
  /** Author of a file; an empty text for media. */
  author: string;
  overwrite: boolean;
  received: boolean;
};

/** Columns of a row that are read. */
export const awaitedColumns = `id, project_id as "projectId", path, digest, bytes::float8 as bytes,
  content_type as "contentType", author, overwrite, received_at is not null as received`;

const insertStatement = statement(
  'insert_awaited_file',
  `with held as (
     update uploads set began_at = 'infinity' where id = :id and began_at > '-infinity' returning id
   )
   insert into awaited_files (id, project_id, path, digest, bytes, content_type, author, overwrite, received_at)
   select :id, :projectId, :path, :digest, :bytes::bigint, :contentType, :author, :overwrite,
          case when :received::boolean then now() end from held
   returning id`,
);

/**
 * Records a pending upload, and protects its bytes from garbage collection. Returns false if the reservation of the
 * bytes has expired.
 */
export const insertAwaited = async (tx: Queryable, awaited: AwaitedRow): Promise<boolean> =>
  (await tx.query(insertStatement, awaited)).length > 0;

const findStatement = statement(
  'find_awaited_file',
  `select ${awaitedColumns} from awaited_files where project_id = $1 and id = $2`,
);

/** Returns the pending upload with this id in a project; undefined if there is none. */
export const findAwaited = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<AwaitedRow | undefined> =>
  (await db.query<AwaitedRow>(findStatement, [projectId, id]))[0];

const isAwaitedStatement = statement(
  'is_file_awaited',
  'select from awaited_files where id = $1 and digest = $2',
);

/** Returns true if there is a pending upload with this id that expects bytes with this digest. */
export const isFileAwaited = async (db: Queryable, id: string, digest: Digest): Promise<boolean> =>
  (await db.query(isAwaitedStatement, [id, digest])).length > 0;

const receivedStatement = statement(
  'file_received',
  'update awaited_files set received_at = now() where id = $1 and digest = $2',
);

/** Records that the bytes of a pending upload have arrived. */
export const markFileReceived = async (
  db: Queryable,
  id: string,
  digest: Digest,
): Promise<void> => {
  await db.query(receivedStatement, [id, digest]);
};

const settleStatement = statement(
  'settle_awaited_file',
  `with gone as (delete from awaited_files where id = $1 returning id)
   delete from uploads where id in (select id from gone) and began_at > '-infinity' returning id`,
);

/** Ends a pending upload whose bytes are stored in this transaction. Returns false if the upload had already ended. */
export const settleAwaited = async (tx: Queryable, id: string): Promise<boolean> =>
  (await tx.query(settleStatement, [id])).length > 0;

const giveUpStatement = statement(
  'give_up_awaited_file',
  `with gone as (delete from awaited_files where id = $1 returning id)
   update uploads set began_at = '-infinity', bytes = 0 where id in (select id from gone) returning id`,
);

/**
 * Gives up a pending upload; bytes that have arrived are garbage-collected. Returns false if the upload had already
 * ended.
 */
export const discardAwaited = async (tx: Queryable, id: string): Promise<boolean> =>
  (await tx.query(giveUpStatement, [id])).length > 0;

/**
 * Age from which an upload that was not confirmed is given up, in hours. Upload addresses are valid for an hour, and no
 * upload takes as long as this.
 */
const awaitedHours = 24;

const lateStatement = statement(
  'list_late_files',
  `select id from awaited_files where created_at < now() - interval '${awaitedHours} hours'
    order by created_at limit 64`,
);

/** Returns some of the pending uploads that were not confirmed in time. */
export const listExpired = async (db: Queryable): Promise<string[]> =>
  (await db.query<{ id: string }>(lateStatement, [])).map(({ id }) => id);
