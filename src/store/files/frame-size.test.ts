import { once } from 'node:events';
import { createZstdCompress, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { unpackedBytes } from './frame-size.ts';

it('is told by what was packed at once, of any size', () => {
  for (const bytes of [0, 1, 255, 256, 257, 65_791, 65_792, 1_000_000]) {
    expect(unpackedBytes(zstdCompressSync(Buffer.alloc(bytes, 'a')))).toBe(bytes);
  }
});

it('is not told by a stream, by less than a header, or by other bytes', async () => {
  const stream = createZstdCompress();
  stream.end(Buffer.alloc(1_000_000, 'a'));
  const [streamed] = (await once(stream, 'data')) as [Buffer];
  expect(unpackedBytes(streamed)).toBeUndefined();
  const packed = zstdCompressSync(Buffer.alloc(1_000_000, 'a'));
  for (let bytes = 0; bytes < 9; bytes += 1) {
    expect(unpackedBytes(packed.subarray(0, bytes))).toBeUndefined();
  }
  expect(unpackedBytes(Buffer.from('no snapshot at all'))).toBeUndefined();
});
