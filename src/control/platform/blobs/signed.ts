/**
 * Presigned addresses, with which clients upload and download bytes without a key. If clients can connect to the store,
 * these are addresses of the store. Otherwise the control plane serves them on a path of its own. It accepts what the
 * signature covers, for one hour: an upload with one digest and size, or a download of one digest. An address allows
 * its holder only that operation.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import type { Secret } from '#runtime/secret.ts';
import {
  type AwaitedBlob,
  addressLifeMs,
  type Blobs,
  defaultContentType,
  type ReadAs,
  type UploadAddress,
} from './blobs.ts';

/** Path of the addresses, below the base URL of the public API. */
export const signedPath = '/api/blobs';

/** Content of an address that the signature covers: the operation, the digest and the expiry. */
export type SignedTerms =
  | { method: 'PUT'; digest: Digest; name: string; type?: string; bytes: number; until: number }
  | { method: 'GET'; digest: Digest; name: string; type?: string; until: number };

export type SignedAddresses = {
  /** Returns the address for an upload. `name` identifies the upload until its bytes are stored as a blob. */
  upload(name: string, awaited: AwaitedBlob, contentType?: string): Promise<UploadAddress>;
  /** Returns an address from which anyone who has it can download the blob, and the time at which it expires. */
  download(digest: Digest, as: ReadAs): Promise<{ url: string; expiresAt: Date }>;
  /**
   * Returns the signed content of an address. Throws `forbidden` if the signature is wrong or the address has expired.
   */
  readTerms(method: 'PUT' | 'GET', sha256: string, query: Record<string, unknown>): SignedTerms;
};

/** Returns the signature. It has the form of a service token, so that it is redacted wherever tokens are. */
const signatureOf = (secret: Secret, terms: SignedTerms): string => {
  const { method, digest, until, type } = terms;
  const bytes = terms.method === 'PUT' ? terms.bytes : null;
  const said = [method, digest, terms.name, bytes, until, ...(type === undefined ? [] : [type])];
  return `lt-${secret.derive(`blob:${JSON.stringify(said)}`)}`;
};

const isSame = (given: string, right: string): boolean => {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(right));
};

const refusal = (): AppError =>
  new AppError('forbidden', 'the address is not valid, or its hour has expired: request a new one');

const wholeForm = /^\d{1,15}$/;
const typeForm = /^[\x20-\x7e]{1,255}$/;

const termsOf = (
  method: 'PUT' | 'GET',
  sha256: string,
  query: Record<string, unknown>,
): SignedTerms => {
  const { bytes, name, type, until } = query;
  if (!/^[\da-f]{64}$/.test(sha256) || typeof until !== 'string' || !wholeForm.test(until)) {
    throw refusal();
  }
  if (typeof name !== 'string' || name === '') throw refusal();
  if (type !== undefined && (typeof type !== 'string' || !typeForm.test(type))) throw refusal();
  const common = {
    ...{ digest: `sha256:${sha256}` as Digest, name, until: Number(until) },
    ...(type === undefined ? {} : { type }),
  };
  if (method === 'GET') return { ...common, method };
  if (typeof bytes !== 'string' || !wholeForm.test(bytes)) throw refusal();
  return { ...common, method, bytes: Number(bytes) };
};

/** Creates the addresses. `baseUrl` is the URL of the control plane; `now` returns the time in milliseconds. */
export const createSignedAddresses = (
  { secret, blobs, baseUrl }: { secret: Secret; blobs: Blobs; baseUrl: () => string },
  now: () => number = Date.now,
): SignedAddresses => {
  const addressOf = (terms: SignedTerms): string => {
    const { method: _, digest, ...said } = terms;
    const query = new URLSearchParams({
      ...Object.fromEntries(Object.entries(said).map(([key, value]) => [key, String(value)])),
      signature: signatureOf(secret, terms),
    });
    return `${baseUrl()}${signedPath}/${digest.slice('sha256:'.length)}?${query}`;
  };
  const untilOf = (): number => Math.floor((now() + addressLifeMs) / 1_000);
  return {
    async upload(name, { digest, bytes }, contentType) {
      if (blobs.presigned !== undefined) {
        return blobs.presigned.upload(name, { digest, bytes }, contentType);
      }
      const until = untilOf();
      const type = contentType === undefined ? {} : { type: contentType };
      return {
        url: addressOf({ method: 'PUT', digest, bytes, name, ...type, until }),
        headers: { 'content-type': contentType ?? defaultContentType },
        expiresAt: new Date(until * 1_000),
      };
    },
    async download(digest, as) {
      const until = untilOf();
      const expiresAt = new Date(until * 1_000);
      if (blobs.presigned !== undefined) {
        return { url: await blobs.presigned.download(digest, as), expiresAt };
      }
      const type = as.contentType === undefined ? {} : { type: as.contentType };
      const url = addressOf({ method: 'GET', digest, name: as.name, ...type, until });
      return { url, expiresAt };
    },
    readTerms(method, sha256, query) {
      const terms = termsOf(method, sha256, query);
      const { signature } = query;
      if (typeof signature !== 'string') throw refusal();
      // Compares with every value of the secret, so that the time does not depend on which one was used.
      const matches = secret.each().map((one) => isSame(signature, signatureOf(one, terms)));
      if (!matches.includes(true) || terms.until * 1_000 < now()) throw refusal();
      return terms;
    },
  };
};
