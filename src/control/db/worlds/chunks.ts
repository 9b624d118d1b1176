/**
 * Chunks of batches. An upload that is not ended protects the bytes of each chunk. So the bytes count for the project,
 * and are garbage-collected when the chunk is dropped.
 */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

export type ChunkRow = {
  id: string;
  batchId: string;
  ordinal: number;
  digest: Digest;
  bytes: number;
  rows: number;
  entity: string | null;
  received: boolean;
  uploaded: boolean;
};

const columns = `c.id, c.batch_id as "batchId", c.ordinal, c.digest, c.bytes::float8 as bytes, c.rows::float8 as rows,
  c.entity, c.received_at is not null as received, c.uploaded_at is not null as uploaded`;

const byOrdinalStatement = statement(
  'find_chunk_by_ordinal',
  `select ${columns} from data_chunks c where c.batch_id = $1 and c.ordinal = $2`,
);

/** Returns the chunk with this ordinal in a batch; undefined if there is none. */
export const findChunkByOrdinal = async (
  db: Queryable,
  batchId: string,
  ordinal: number,
): Promise<ChunkRow | undefined> =>
  (await db.query<ChunkRow>(byOrdinalStatement, [batchId, ordinal]))[0];

const findStatement = statement(
  'find_chunk',
  `select ${columns} from data_chunks c where c.batch_id = $1 and c.id = $2`,
);

/** Returns a chunk of a batch; undefined if there is none. */
export const findChunk = async (
  db: Queryable,
  batchId: string,
  id: string,
): Promise<ChunkRow | undefined> => (await db.query<ChunkRow>(findStatement, [batchId, id]))[0];

const listStatement = statement(
  'list_chunks',
  `select ${columns} from data_chunks c where c.batch_id = $1 order by c.ordinal`,
);

/** Lists the chunks of a batch, sorted by their ordinals. */
export const listChunks = (db: Queryable, batchId: string): Promise<ChunkRow[]> =>
  db.query<ChunkRow>(listStatement, [batchId]);

const sumStatement = statement(
  'sum_chunks',
  `select count(*)::int as chunks, coalesce(sum(bytes), 0)::float8 as bytes
     from data_chunks where batch_id = $1 and ordinal <> $2`,
);

/** Returns the number and the total bytes of a batch's chunks, without the chunk with this ordinal. */
export const sumOtherChunks = async (
  db: Queryable,
  batchId: string,
  ordinal: number,
): Promise<{ chunks: number; bytes: number }> => {
  const [sum] = await db.query<{ chunks: number; bytes: number }>(sumStatement, [batchId, ordinal]);
  return sum ?? { chunks: 0, bytes: 0 };
};

const dropStatement = statement(
  'drop_chunk',
  `with gone as (delete from data_chunks where id = $1 returning id)
   update uploads set began_at = '-infinity', bytes = 0 where id in (select id from gone)`,
);

/** Drops a chunk that is replaced by another chunk. */
export const dropChunk = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(dropStatement, [id]);
};

// If another chunk of the world has the same bytes, they exist already, and the client need not upload them again.
const insertStatement = statement(
  'insert_chunk',
  `with held as (
     update uploads set began_at = 'infinity' where id = :id and began_at > '-infinity' returning id
   )
   insert into data_chunks (id, batch_id, world_id, ordinal, digest, bytes, rows, entity, received_at, uploaded_at)
   select :id, :batchId, :worldId, :ordinal, :digest, :bytes::bigint, :rows::bigint, :entity, known.at, known.at
     from held left join (
       select min(o.uploaded_at) as at from data_chunks o
        where o.world_id = :worldId and o.digest = :digest and o.bytes = :bytes::bigint and o.uploaded_at is not null
     ) known on true
   returning id`,
);

export type NewChunk = Omit<ChunkRow, 'received' | 'uploaded'> & { worldId: string };

/**
 * Inserts a chunk, and protects its bytes for as long as the chunk exists. Returns false if the reservation of the
 * bytes has expired.
 */
export const insertChunk = async (tx: Queryable, chunk: NewChunk): Promise<boolean> =>
  (await tx.query(insertStatement, chunk)).length > 0;

const awaitedStatement = statement(
  'find_awaited_chunk',
  `select c.id from data_chunks c join data_batches b on b.id = c.batch_id
    where c.id = $1 and c.digest = $2 and b.state in ('open', 'uploading')`,
);

/**
 * Returns true if the bytes of a chunk may be uploaded: the chunk exists with this digest, and its batch accepts
 * chunks.
 */
export const isAwaited = async (db: Queryable, id: string, digest: Digest): Promise<boolean> =>
  (await db.query(awaitedStatement, [id, digest])).length > 0;

const receivedStatement = statement(
  'chunk_received',
  'update data_chunks set received_at = now() where id = $1 and digest = $2',
);

/** Records that the bytes of a chunk have arrived. */
export const markReceived = async (db: Queryable, id: string, digest: Digest): Promise<void> => {
  await db.query(receivedStatement, [id, digest]);
};

const confirmStatement = statement(
  'confirm_chunk',
  `with confirmed as (
     update data_chunks c set uploaded_at = coalesce(c.uploaded_at, now()), received_at = coalesce(c.received_at, now())
       from data_batches b
      where c.id = $1 and c.digest = $2 and b.id = c.batch_id and b.state in ('open', 'uploading')
     returning c.id, c.batch_id
   ), touched as (
     update data_batches set updated_at = now() where id in (select batch_id from confirmed)
   )
   select id from confirmed`,
);

/** Confirms a chunk. Returns false if its batch no longer accepts chunks, or another chunk has replaced it. */
export const confirmChunk = async (db: Queryable, id: string, digest: Digest): Promise<boolean> =>
  (await db.query(confirmStatement, [id, digest])).length > 0;
