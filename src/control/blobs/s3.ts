/**
 * Blobs as objects of a bucket, under the names that they have in a folder. The service keeps an object
 * whole or not at all and is told the digest of each, so nothing here guards against halves. Failures
 * that pass are ridden out for a second; then it is unavailable, and whoever asked asks again.
 */
import { addAbortSignal, Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { AppError, describeError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import { type Blobs, checkBytes, digestOf, missing, pathOf, type S3Config } from './blobs.ts';

/**
 * How long an operation may take with all its attempts. What a host asks for must come within the ten
 * seconds after which it asks again, and a probe waits five.
 */
const limits = { readMs: 8_000, writeMs: 30_000, checkMs: 3_000 };
const connectMs = 2_000;
const silenceMs = 5_000;
/** The first and five more: refused connections and the like are ridden out for 1.5 seconds at most. */
const mostAttempts = 6;

/** Written at the start to see that it can be, and read to see that the store is there. */
const nothing = new Uint8Array();
/** What nobody has: whoever may not list a bucket is told "forbidden" of it, and not "missing". */
const nobodys: Digest = `sha256:${'0'.repeat(64)}`;

const statusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;

/** Why it failed, and the way out. A request for the head of an object is refused by a status alone. */
const reasonOf = (error: unknown): string => {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const status = statusOf(error);
  if (name === 'CredentialsProviderError') {
    return `${message}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the workload an identity`;
  }
  if (status === undefined) return describeError(error);
  const code = name === 'Unknown' ? `status ${status}` : name;
  if (status === 401 || status === 403) {
    return `${code}; its credentials must be right, and permit s3:GetObject, s3:PutObject and s3:ListBucket`;
  }
  return `${code}: ${message}`;
};

/** Opens the store in a bucket that is there, and writes to it once. */
export const openS3Blobs = async (s3: S3Config): Promise<Blobs> => {
  const { bucket, prefix, region, endpoint } = s3;
  const under = prefix === '' ? '' : `${prefix}/`;
  const location = `s3://${bucket}/${prefix} at ${endpoint ?? `Amazon S3 in ${region}`}`;
  const client = new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint }),
    forcePathStyle: s3.pathStyle,
    maxAttempts: mostAttempts,
    retryMode: 'standard',
    requestHandler: { connectionTimeout: connectMs, socketTimeout: silenceMs },
    // Digests are given and checked here; further sums are for who demands them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const objectOf = (digest: Digest) => ({ Bucket: bucket, Key: `${under}${pathOf(digest)}` });

  /** Does it within its time, or throws `unavailable`. */
  const within = async <Value>(
    ms: number,
    work: (abortSignal: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    const signal = AbortSignal.timeout(ms);
    try {
      return await work(signal);
    } catch (error) {
      const reason = signal.aborted ? `no answer in ${ms} ms` : reasonOf(error);
      // Not as the cause: it holds the answer and its headers.
      throw new AppError('unavailable', `blobs in ${location} cannot be used: ${reason}`);
    }
  };

  const sizeOf = (digest: Digest, ms = limits.readMs): Promise<number | undefined> =>
    within(ms, async (abortSignal) => {
      try {
        const command = new HeadObjectCommand(objectOf(digest));
        return (await client.send(command, { abortSignal })).ContentLength ?? 0;
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    });
  const upload = async (digest: Digest, bytes: Uint8Array): Promise<void> => {
    const command = new PutObjectCommand({
      ...objectOf(digest),
      Body: bytes,
      ContentLength: bytes.byteLength,
      ContentType: 'application/octet-stream',
      ChecksumSHA256: Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64'),
    });
    await within(limits.writeMs, (abortSignal) => client.send(command, { abortSignal }));
  };
  const download = (digest: Digest): Promise<Uint8Array | undefined> =>
    within(limits.readMs, async (abortSignal) => {
      try {
        const { Body } = await client.send(new GetObjectCommand(objectOf(digest)), { abortSignal });
        if (Body instanceof Readable) addAbortSignal(abortSignal, Body);
        return (await Body?.transformToByteArray()) ?? nothing;
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    });
  const check = async (): Promise<void> => {
    if ((await sizeOf(digestOf(nothing), limits.checkMs)) !== undefined) return;
    throw new AppError(
      'unavailable',
      `blobs in ${location} cannot be used: the bucket is gone, or has been emptied`,
    );
  };

  await upload(digestOf(nothing), nothing);
  await check();
  await sizeOf(nobodys);
  return {
    location,
    isShared: true,
    check,
    async put(bytes) {
      const digest = digestOf(bytes);
      if ((await sizeOf(digest)) !== bytes.byteLength) await upload(digest, bytes);
      return digest;
    },
    async get(digest) {
      const bytes = await download(digest);
      if (bytes === undefined) throw missing(digest);
      return checkBytes(location, digest, bytes);
    },
    async remove(digest) {
      if (digest === digestOf(nothing)) return; // by it the bucket is told from one that was emptied
      const command = new DeleteObjectCommand(objectOf(digest));
      await within(limits.writeMs, (abortSignal) => client.send(command, { abortSignal }));
    },
    async size(digest) {
      const bytes = await sizeOf(digest);
      if (bytes !== undefined) return bytes;
      await check(); // the head of an object is missing in a missing bucket, too
      throw missing(digest);
    },
  };
};
