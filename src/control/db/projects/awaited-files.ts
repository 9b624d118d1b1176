/**
 * Bytes that are to come to a project, as a file or beside a trace. The upload of the same id holds them, so they count
 * for the project, and nobody collects them, until they are confirmed or given up.
 */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

export type AwaitedRow = {
  id: string;
  projectId: string;
  /** Of a file; null for what is no file. */
  path: string | null;
  digest: Digest;
  bytes: number;
  contentType: string;
  /** Who sends it; empty for what is no file. */
  author: string;
  overwrite: boolean;
  received: boolean;
};

/** What of a row is read. */
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

/** Writes what is awaited, and holds its bytes; false when room for them was taken too long ago. */
export const insertAwaited = async (tx: Queryable, awaited: AwaitedRow): Promise<boolean> =>
  (await tx.query(insertStatement, awaited)).length > 0;

const findStatement = statement(
  'find_awaited_file',
  `select ${awaitedColumns} from awaited_files where project_id = $1 and id = $2`,
);

/** What a project awaits under an id. */
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

/** Whether bytes may come under a name. */
export const isFileAwaited = async (db: Queryable, id: string, digest: Digest): Promise<boolean> =>
  (await db.query(isAwaitedStatement, [id, digest])).length > 0;

const receivedStatement = statement(
  'file_received',
  'update awaited_files set received_at = now() where id = $1 and digest = $2',
);

/** Says that they are there. */
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

/** Ends the waiting for bytes that are kept from this transaction on; false when somebody else ended it. */
export const settleAwaited = async (tx: Queryable, id: string): Promise<boolean> =>
  (await tx.query(settleStatement, [id])).length > 0;

const giveUpStatement = statement(
  'give_up_awaited_file',
  `with gone as (delete from awaited_files where id = $1 returning id)
   update uploads set began_at = '-infinity', bytes = 0 where id in (select id from gone) returning id`,
);

/** Gives up what is awaited; what came of it is collected. False when it was not awaited any more. */
export const giveUpAwaited = async (tx: Queryable, id: string): Promise<boolean> =>
  (await tx.query(giveUpStatement, [id])).length > 0;

/** What was not confirmed by then is given up: addresses are good for an hour, and no upload takes so long. */
const awaitedHours = 24;

const lateStatement = statement(
  'list_late_files',
  `select id from awaited_files where created_at < now() - interval '${awaitedHours} hours'
    order by created_at limit 64`,
);

/** Some of what nobody confirmed in time. */
export const listLate = async (db: Queryable): Promise<string[]> =>
  (await db.query<{ id: string }>(lateStatement, [])).map(({ id }) => id);
