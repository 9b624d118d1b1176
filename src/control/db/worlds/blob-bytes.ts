/**
 * Blobs of worlds, if an installation stores them in its database. A small blob is in the row of its digest. A large
 * blob is stored in pieces, so that it is never in memory as a whole.
 */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

// The first write of a digest is correct, so a second one changes nothing. Bytes of another length were not written by
// a program of this kind, and are replaced.
const writeStatement = statement(
  'write_blob',
  `insert into blobs as b (digest, bytes) values ($1, $2)
   on conflict (digest) do update set bytes = excluded.bytes, size = null
    where coalesce(b.size, length(b.bytes)) <> length(excluded.bytes)`,
);

const writePieceStatement = statement(
  'write_blob_piece',
  `insert into blob_pieces (digest, ordinal, bytes) values (:digest, :ordinal, :bytes)
   on conflict (digest, ordinal) do update set bytes = excluded.bytes`,
);

const closePiecesStatement = statement(
  'close_blob_pieces',
  `insert into blobs (digest, bytes, size) values ($1, '', $2)
   on conflict (digest) do update set bytes = excluded.bytes, size = excluded.size`,
);

const readStatement = statement(
  'read_blob',
  `select case when size is null then bytes
               else coalesce((select string_agg(p.bytes, '' order by p.ordinal)
                                from blob_pieces p where p.digest = b.digest), '')
           end as bytes
     from blobs b where digest = $1`,
);

const readPieceStatement = statement(
  'read_blob_piece',
  `select case when size is null then substring(bytes from :ordinal::int * :pieceBytes::int + 1 for :pieceBytes::int)
               else (select p.bytes from blob_pieces p where p.digest = b.digest and p.ordinal = :ordinal::int)
           end as bytes
     from blobs b where digest = :digest`,
);

const sizeStatement = statement(
  'blob_size',
  'select coalesce(size, length(bytes)) as size from blobs where digest = $1',
);

const removeStatement = statement(
  'remove_blob',
  `with pieces as (delete from blob_pieces where digest = $1)
   delete from blobs where digest = $1`,
);

const toBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);

export const writeBlob = async (
  db: Queryable,
  digest: Digest,
  bytes: Uint8Array,
): Promise<void> => {
  await db.query(writeStatement, [digest, toBuffer(bytes)]);
};

/** Writes one piece of a blob. The blob exists only after `closeBlobPieces`. */
export const writeBlobPiece = async (
  db: Queryable,
  piece: { digest: Digest; ordinal: number; bytes: Uint8Array },
): Promise<void> => {
  await db.query(writePieceStatement, { ...piece, bytes: toBuffer(piece.bytes) });
};

/** Records that all pieces of a blob with this size are written. */
export const closeBlobPieces = async (
  db: Queryable,
  digest: Digest,
  size: number,
): Promise<void> => {
  await db.query(closePiecesStatement, [digest, size]);
};

/** Returns the bytes with this digest; undefined if there is no such blob. */
export const readBlob = async (db: Queryable, digest: Digest): Promise<Uint8Array | undefined> =>
  (await db.query<{ bytes: Buffer }>(readStatement, [digest]))[0]?.bytes;

/**
 * Returns the piece of a blob with this ordinal. Returns no bytes for the ordinal after the last piece, and undefined
 * if there is no such blob or piece.
 */
export const readBlobPiece = async (
  db: Queryable,
  piece: { digest: Digest; ordinal: number; pieceBytes: number },
): Promise<Uint8Array | undefined> =>
  (await db.query<{ bytes: Buffer | null }>(readPieceStatement, piece))[0]?.bytes ?? undefined;

/** Returns the size of a blob in bytes; undefined if there is no such blob. */
export const readBlobSize = async (db: Queryable, digest: Digest): Promise<number | undefined> => {
  const size = (await db.query<{ size: string }>(sizeStatement, [digest]))[0]?.size;
  return size === undefined ? undefined : Number(size);
};

export const removeBlob = async (db: Queryable, digest: Digest): Promise<void> => {
  await db.query(removeStatement, [digest]);
};
