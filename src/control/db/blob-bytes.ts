/** The bytes of worlds, where an installation keeps them in its database. */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from './database.ts';

// Who puts them first is right; bytes of another length were not put by a program of this kind.
const writeStatement = statement(
  'write_blob',
  `insert into blobs as b (digest, bytes) values ($1, $2)
   on conflict (digest) do update set bytes = excluded.bytes
    where length(b.bytes) <> length(excluded.bytes)`,
);

const readStatement = statement('read_blob', 'select bytes from blobs where digest = $1');

const sizeStatement = statement(
  'blob_size',
  'select length(bytes) as size from blobs where digest = $1',
);

const removeStatement = statement('remove_blob', 'delete from blobs where digest = $1');

export const writeBlob = async (
  db: Queryable,
  digest: Digest,
  bytes: Uint8Array,
): Promise<void> => {
  await db.query(writeStatement, [
    digest,
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  ]);
};

/** The bytes of a digest; undefined when there are none. */
export const readBlob = async (db: Queryable, digest: Digest): Promise<Uint8Array | undefined> =>
  (await db.query<{ bytes: Buffer }>(readStatement, [digest]))[0]?.bytes;

/** How many bytes a digest has; undefined when there are none. */
export const readBlobSize = async (db: Queryable, digest: Digest): Promise<number | undefined> =>
  (await db.query<{ size: number }>(sizeStatement, [digest]))[0]?.size;

export const removeBlob = async (db: Queryable, digest: Digest): Promise<void> => {
  await db.query(removeStatement, [digest]);
};
