import { expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import type { Digest } from '#domain/world.ts';
import type { Blobs } from '../../platform/blobs/blobs.ts';
import { readHeld } from './push.ts';

it('a push whose stored files are too large together is refused before any of them is read', async () => {
  const read: Digest[] = [];
  const blobs = {
    size: async () => limits.treeFileBytes,
    get: async (digest) => {
      read.push(digest);
      return new Uint8Array();
    },
  } satisfies Partial<Blobs> as unknown as Blobs;
  const most = limits.treeBytes / limits.treeFileBytes;
  const digests = Array.from({ length: most + 1 }, (_, at): Digest => `sha256:${at}`);
  expect((await readHeld({ blobs }, digests.slice(1))).size).toBe(most);
  read.length = 0;
  await expect(readHeld({ blobs }, digests)).rejects.toMatchObject({
    code: 'invalid',
    message: `the tree has more than ${limits.treeBytes} bytes, the maximum`,
    fields: [{ path: ['files'] }],
  });
  expect(read.length).toBeLessThanOrEqual(most);
});
