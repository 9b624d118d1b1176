/**
 * Blobs in the installation's own database: the rows that name them and the bytes are kept, copied and lost
 * together, and a control plane has nothing of its own that another one would need. That is right for small
 * installations; bytes take room and memory in the database that a folder or a bucket gives more cheaply.
 */
import { readBlob, readBlobSize, removeBlob, writeBlob } from '../db/blob-bytes.ts';
import type { Queryable } from '../db/database.ts';
import { createLine } from '../db/line.ts';
import { type Blobs, checkBytes, digestOf, missing } from './blobs.ts';

const location = 'the database';
/** A digest that no bytes have: asking for it says whether the table can be read. */
const nobodys = 'sha256:';

/**
 * Blobs that are on their way at once. Each takes a connection for long and memory for several times its
 * size, on both ends; the other connections are for what has to be answered soon.
 */
const atOnce = { served: 2, waiting: 1_000, waitMs: 15_000 };

/** Opens the store in a database that is migrated. */
export const openDatabaseBlobs = (db: Queryable): Blobs => {
  const line = createLine(atOnce);
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
