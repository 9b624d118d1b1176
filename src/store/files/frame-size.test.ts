import { once } from 'node:events';
import { createZstdCompress, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { unpackedBytes } from './frame-size.ts';

it('the header of a frame that was compressed in one call has its unpacked size', () => {
  for (const bytes of [0, 1, 255, 256, 257, 65_791, 65_792, 1_000_000]) {
    expect(unpackedBytes(zstdCompressSync(Buffer.alloc(bytes, 'a')))).toBe(bytes);
  }
});

it('the unpacked size is unknown for a compressed stream, part of a header, or other bytes', async () => {
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
