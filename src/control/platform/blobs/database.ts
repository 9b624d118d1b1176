/**
 * Stores blobs in the installation's own database. Then metadata and bytes are backed up and lost together, and control
 * planes share no other storage. This suits small installations. In large installations the bytes would take disk space
 * and memory of the database; a folder or a bucket provides these more cheaply.
 */
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Digest } from '#domain/world.ts';
import { createConnectionQueue } from '../../db/core/connection-queue.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  closeBlobPieces,
  readBlob,
  readBlobPiece,
  readBlobSize,
  removeBlob,
  writeBlob,
  writeBlobPiece,
} from '../../db/worlds/blob-bytes.ts';
import { type Blobs, checkBytes, checkStream, digestOf, measureFile, missing } from './blobs.ts';

const location = 'the database';
/** Digest that no blob has. The query for it proves that the table can be read. */
const nobodys = 'sha256:';

/**
 * Limit on concurrent transfers of blobs. Each transfer occupies a connection for a long time, and several times the
 * blob's size in memory at both ends. The other connections serve requests that need a quick answer.
 */
const atOnce = { served: 2, waiting: 1_000, waitMs: 15_000 };

/** Size of the pieces in which a file is transferred, in bytes. */
const pieceBytes = 4 * 1024 * 1024;

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(pieceBytes), 0, pieceBytes);
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      if (bytesRead < pieceBytes) return;
    }
  } finally {
    await file.close();
  }
}

/** Opens the store in a migrated database. */
export const openDatabaseBlobs = (db: Queryable): Blobs => {
  const line = createConnectionQueue(atOnce);
  async function* readPieces(digest: Digest): AsyncGenerator<Uint8Array> {
    for (let ordinal = 0; ; ordinal += 1) {
      const piece = await line.take(() => readBlobPiece(db, { digest, ordinal, pieceBytes }));
      if (piece === undefined || piece.byteLength === 0) return;
      yield piece;
    }
  }
  const writePieces = async (path: string, digest: Digest, bytes: number): Promise<void> => {
    let ordinal = 0;
    for await (const piece of piecesOf(path)) {
      const written = { digest, ordinal, bytes: piece };
      await line.take(() => writeBlobPiece(db, written));
      ordinal += 1;
    }
    await closeBlobPieces(db, digest, bytes);
  };
  return {
    location,
    isShared: true,
    async check() {
      await readBlobSize(db, nobodys);
    },
    async put(bytes) {
      const digest = digestOf(bytes);
      if ((await readBlobSize(db, digest)) !== bytes.byteLength)
        await line.take(() => writeBlob(db, digest, bytes));
      return digest;
    },
    async putFile(path) {
      const { digest, bytes } = await measureFile(path);
      if ((await readBlobSize(db, digest)) !== bytes) await writePieces(path, digest, bytes);
      return digest;
    },
    async read(digest) {
      if ((await readBlobSize(db, digest)) === undefined) throw missing(digest);
      return checkStream(location, digest, Readable.from(readPieces(digest)));
    },
    async get(digest) {
      const bytes = await line.take(() => readBlob(db, digest));
      if (bytes === undefined) throw missing(digest);
      return checkBytes(location, digest, bytes);
    },
    remove: (digest) => removeBlob(db, digest),
    async size(digest) {
      const size = await readBlobSize(db, digest);
      if (size === undefined) throw missing(digest);
      return size;
    },
  };
};
