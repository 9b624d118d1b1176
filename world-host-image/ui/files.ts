/**
 * In-memory cache of a page's files, limited in bytes. The host fetches a file by its digest from the control plane at
 * the first request, and caches it with its compressed forms. Files are never written to the host's disk.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import type { PageFile } from '../session/session.ts';
import { type Coding, compress, isWorthwhile } from './compression.ts';

export type LoadedFile = {
  /** Media type of the file. */
  type: string;
  bytes: Uint8Array;
  /** Returns the compressed bytes, which are made only once; undefined if compression would not save anything. */
  encoded(coding: Coding): Promise<Uint8Array> | undefined;
};

export type UiFiles = {
  /** Returns a file. Throws `unavailable` when the control plane does not supply it. */
  load(file: PageFile): Promise<LoadedFile>;
};

/** Maximum size of the cache in bytes, including compressed forms. */
const mostBytes = 64 * 2 ** 20;

const check = ({ sha256, path }: PageFile, bytes: Uint8Array): Uint8Array => {
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (found === sha256) return bytes;
  throw new AppError(
    'unavailable',
    `the bytes received for ${path} have the digest ${found}, not ${sha256}`,
  );
};

const toLoaded = async (file: PageFile, bytes: Uint8Array): Promise<LoadedFile> => {
  const { typeOf } = await import('./file-types.ts');
  const type = typeOf(file.path);
  const made = new Map<Coding, Promise<Uint8Array>>();
  return {
    type,
    bytes,
    encoded(coding) {
      if (!isWorthwhile(type, bytes.length)) return undefined;
      const known = made.get(coding);
      if (known !== undefined) return known;
      const begun = compress(bytes, coding);
      made.set(coding, begun);
      begun.catch(() => made.delete(coding));
      return begun;
    },
  };
};

/** Creates an empty cache. `fetchBlob` throws `AppError` for a file that it cannot supply. */
export const createUiFiles = (fetchBlob: (digest: Digest) => Promise<Uint8Array>): UiFiles => {
  const cache = new LRUCache<Digest, LoadedFile>({
    maxSize: mostBytes,
    sizeCalculation: ({ bytes }) => 2 * bytes.length + 1_024,
  });
  const underWay = new Map<Digest, Promise<LoadedFile>>();

  const fetchFile = async (file: PageFile): Promise<LoadedFile> => {
    const loaded = await toLoaded(file, check(file, await fetchBlob(file.sha256)));
    cache.set(file.sha256, loaded);
    return loaded;
  };

  return {
    async load(file) {
      const known = cache.get(file.sha256) ?? underWay.get(file.sha256);
      if (known !== undefined) return known;
      const begun = fetchFile(file).finally(() => underWay.delete(file.sha256));
      underWay.set(file.sha256, begun);
      return begun;
    },
  };
};
