/** Writes the snapshot of an import's database: compressed as a stream, with the digest of the written bytes. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { digestOfSum } from '#store/read/state-digest.ts';
import type { ImportedSnapshot } from './plan.ts';

const portionBytes = 1024 * 1024;

/**
 * Fastest compression level. For rows, higher levels take twice as long and make the file only a few percent smaller.
 */
const level = 1;

/** Compresses a closed database file. */
export const packSnapshotFile = async (
  store: string,
  folder: string,
  sum: bigint,
): Promise<ImportedSnapshot> => {
  const file = join(folder, 'snapshot.zst');
  const { size } = await stat(store);
  const hash = createHash('sha256');
  let bytes = 0;
  const measure = new Transform({
    transform(portion: Buffer, _encoding, done) {
      hash.update(portion);
      bytes += portion.length;
      done(null, portion);
    },
  });
  await pipeline(
    createReadStream(store, { highWaterMark: portionBytes }),
    createZstdCompress({
      chunkSize: portionBytes,
      pledgedSrcSize: size,
      params: { [constants.ZSTD_c_compressionLevel]: level },
    }),
    measure,
    createWriteStream(file),
  );
  return { file, bytes, digest: `sha256:${hash.digest('hex')}`, stateDigest: digestOfSum(sum) };
};
