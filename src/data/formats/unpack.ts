/**
 * Unpacks the bytes of a file from gzip or zstd, detected by the first bytes, whatever the file's name. A file that
 * unpacks to many hundred times its size is refused while it is unpacked.
 */
import { Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { formatLimits, type RowSource, startingWith, unreadable } from './found.ts';

type Packing = 'gzip' | 'zstd';

const packingOf = (first: Uint8Array): Packing | undefined => {
  if (first[0] === 0x1f && first[1] === 0x8b) return 'gzip';
  const isZstd = first[0] === 0x28 && first[1] === 0xb5 && first[2] === 0x2f && first[3] === 0xfd;
  return isZstd ? 'zstd' : undefined;
};

const enough = 4;

/** Returns the stream with a first piece of at least four bytes; a shorter stream is returned as one piece. */
async function* startingWhole(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let begin: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of bytes) {
    if (begin === undefined) yield piece;
    else {
      begin = Buffer.concat([begin, piece]);
      if (begin.byteLength < enough) continue;
      yield begin;
      begin = undefined;
    }
  }
  if (begin !== undefined && begin.byteLength > 0) yield begin;
}

async function* unpacked(
  name: string,
  packing: Packing,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const transform: Transform = packing === 'gzip' ? createGunzip() : createZstdDecompress();
  let taken = 0;
  let given = 0;
  const counted = Readable.from(
    (async function* () {
      for await (const piece of bytes) {
        taken += piece.byteLength;
        yield piece;
      }
    })(),
    { objectMode: false },
  );
  counted.on('error', (error) => transform.destroy(error));
  counted.pipe(transform);
  try {
    for await (const piece of transform as AsyncIterable<Buffer>) {
      given += piece.byteLength;
      if (given > formatLimits.unpackedBytes && given > taken * formatLimits.packedTimes) {
        throw unreadable(
          name,
          undefined,
          `unpacks to over ${formatLimits.packedTimes} times its size, which is not allowed`,
        );
      }
      yield piece;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || !/^(Z_|ZSTD_|ERR_ZSTD|ERR__ERROR|ERR_ZLIB)/.test(code)) throw error;
    throw unreadable(name, undefined, `is damaged or cut off: it cannot be unpacked as ${packing}`);
  } finally {
    counted.destroy();
    transform.destroy();
  }
}

export type Unpacked = { bytes: AsyncGenerator<Uint8Array>; wasPacked: boolean };

/** Returns the source's bytes, unpacked; undefined if the source is empty. */
export const unpack = async ({ open }: RowSource, name: string): Promise<Unpacked | undefined> => {
  const pieces = startingWhole(open());
  const first = await pieces.next();
  if (first.done === true) return undefined;
  const all = startingWith(first.value, pieces);
  const packing = packingOf(first.value);
  return packing === undefined
    ? { bytes: all, wasPacked: false }
    : { bytes: unpacked(name, packing, all), wasPacked: true };
};
