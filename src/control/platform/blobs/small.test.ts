import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Digest } from '#domain/world.ts';
import { type Blobs, digestOf, missing } from './blobs.ts';
import { createSmallBlobs } from './small.ts';

/** Creates a blob store in memory that records each read. */
const countingBlobs = (...contents: Uint8Array[]) => {
  const held = new Map(contents.map((bytes) => [digestOf(bytes), bytes]));
  const reads: Digest[] = [];
  const find = (digest: Digest): Uint8Array => {
    const bytes = held.get(digest);
    if (bytes === undefined) throw missing(digest);
    return bytes;
  };
  const blobs: Blobs = {
    location: 'memory',
    isShared: false,
    put: async (bytes) => digestOf(bytes),
    putFile: async () => digestOf(''),
    read: async (digest) => Readable.from([find(digest)]),
    get: async (digest) => {
      reads.push(digest);
      return find(digest);
    },
    remove: async () => undefined,
    size: async (digest) => find(digest).byteLength,
    check: async () => undefined,
  };
  return { blobs, reads };
};

describe('small blobs', () => {
  const small = new TextEncoder().encode('a bundle');
  const large = new Uint8Array(256 * 1024 + 1);

  it('are returned as base64, and large blobs are never read', async () => {
    const { blobs, reads } = countingBlobs(small, large);
    const picked = await createSmallBlobs(blobs).pick('prj', [digestOf(small), digestOf(large)]);
    expect(picked).toEqual({ [digestOf(small)]: Buffer.from(small).toString('base64') });
    expect(reads).toEqual([digestOf(small)]);
  });

  it('are left out if they are lost', async () => {
    const lost = new TextEncoder().encode('lost');
    const { blobs } = countingBlobs(small);
    const picked = await createSmallBlobs(blobs).pick('prj', [digestOf(lost), digestOf(small)]);
    expect(Object.keys(picked)).toEqual([digestOf(small)]);
  });

  const sized = (count: number, first: number) =>
    Array.from({ length: count }, (_, index) => new Uint8Array(200 * 1024).fill(first + index));

  it('are read once each, and the least recently used one is dropped from the cache', async () => {
    const many = sized(140, 0);
    const { blobs, reads } = countingBlobs(...many);
    const cache = createSmallBlobs(blobs);
    for (const bytes of many) await cache.pick('prj', [digestOf(bytes)]);
    await cache.pick('prj', [digestOf(many[139] ?? small)]);
    expect(reads).toHaveLength(140);
    await cache.pick('prj', [digestOf(many[0] ?? small)]);
    expect(reads).toHaveLength(141);
  });

  it('of one project stay cached, however many another project requests', async () => {
    const many = sized(240, 0);
    const { blobs, reads } = countingBlobs(small, ...many);
    const cache = createSmallBlobs(blobs);
    await cache.pick('quiet', [digestOf(small)]);
    for (const bytes of many) await cache.pick('busy', [digestOf(bytes)]);
    await cache.pick('quiet', [digestOf(small)]);
    expect(reads.filter((digest) => digest === digestOf(small))).toHaveLength(1);
  });
});
