/**
 * Blobs as objects of a bucket, under the same names as in a folder. The service stores objects atomically and checks
 * the digest that comes with each, so partial objects need no handling here. Transient failures are retried for about
 * a second; then the store is `unavailable` and the caller retries.
 */
import { createReadStream } from 'node:fs';
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
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { AppError, describeError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import {
  type AwaitedBlob,
  addressLifeMs,
  attachmentOf,
  type Blobs,
  checkBytes,
  checkStream,
  digestOf,
  measureFile,
  missing,
  nothingLeft,
  pathOf,
  type S3Config,
  unsaidType,
} from './blobs.ts';
import { withReceived } from './receive.ts';

/**
 * Time limits of operations, including all attempts. A host repeats its request after ten seconds, so a read must be
 * faster; a readiness probe waits five seconds.
 */
const limits = { readMs: 8_000, writeMs: 30_000, checkMs: 3_000 };
/** Additional time for a write, per MiB: a store slower than 1 MiB per second is of no use. */
const writeMsOfMib = 1_000;
const mib = 1024 * 1024;
const connectMs = 2_000;
const silenceMs = 5_000;
/** Six attempts: refused connections and similar failures are retried for 1.5 seconds at most. */
const mostAttempts = 6;

/** Empty blob, written at startup to prove write access and read by `check` to prove that the store is there. */
const nothing = new Uint8Array();
/**
 * Digest that no blob has. Without permission to list the bucket, S3 answers "forbidden" and not "missing" for it. So
 * a lookup at startup checks that permission.
 */
const nobodys: Digest = `sha256:${'0'.repeat(64)}`;

const fileAttempts = 3;

const sumOf = (digest: Digest): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

const statusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;

/** Returns the reason of a failure and a remedy. A refused HEAD request has a status only, without a message. */
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

/** Opens the store in an existing bucket and writes to it once. Uploads are checked in `workDir`. */
export const openS3Blobs = async (s3: S3Config, workDir: string): Promise<Blobs> => {
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
    // This code sends and checks digests itself; further checksums are computed only where the service requires them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  /** Temporary uploads lie beside the blobs, under a prefix that no blob uses. */
  const leftAt = (name: string): string => `${under}left/${name}`;
  const objectOf = (digest: Digest) => ({ Bucket: bucket, Key: `${under}${pathOf(digest)}` });

  /** Runs the work within a time limit. If it fails, throws `unavailable`. */
  const within = async <Value>(
    ms: number,
    work: (abortSignal: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    const signal = AbortSignal.timeout(ms);
    try {
      return await work(signal);
    } catch (error) {
      const reason = signal.aborted ? `no answer in ${ms} ms` : reasonOf(error);
      // The error is not attached as the cause, because it holds the answer and its headers.
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
  const upload = async (
    { digest, bytes }: AwaitedBlob,
    bodyOf: () => Uint8Array | Readable,
  ): Promise<void> => {
    const command = () =>
      new PutObjectCommand({
        ...objectOf(digest),
        Body: bodyOf(),
        ContentLength: bytes,
        ContentType: unsaidType,
        ChecksumSHA256: sumOf(digest),
      });
    const ms = limits.writeMs + Math.ceil(bytes / mib) * writeMsOfMib;
    await within(ms, (abortSignal) => client.send(command(), { abortSignal }));
  };
  const uploadFile = async (path: string, measured: AwaitedBlob): Promise<void> => {
    // A stream can be read only once, so the client's own retries do not apply.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await upload(measured, () => createReadStream(path));
        return;
      } catch (error) {
        if (attempt === fileAttempts) throw error;
      }
    }
  };
  /** Returns an object as a stream; undefined if there is none. The transfer may take long, but may not stall. */
  const fetch = (Key: string): Promise<Readable | undefined> =>
    within(limits.readMs, async (abortSignal) => {
      try {
        const command = new GetObjectCommand({ Bucket: bucket, Key });
        const { Body } = await client.send(command, { abortSignal });
        return Body instanceof Readable ? Body : Readable.from([nothing]);
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    });
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

  await upload({ digest: digestOf(nothing), bytes: 0 }, () => nothing);
  await check();
  await sizeOf(nobodys);
  return {
    location,
    isShared: true,
    check,
    async put(bytes) {
      const digest = digestOf(bytes);
      const measured = { digest, bytes: bytes.byteLength };
      if ((await sizeOf(digest)) !== measured.bytes) await upload(measured, () => bytes);
      return digest;
    },
    async putFile(path) {
      const measured = await measureFile(path);
      const { digest, bytes } = measured;
      if ((await sizeOf(digest)) !== bytes) await uploadFile(path, measured);
      return digest;
    },
    async read(digest) {
      const stream = await fetch(objectOf(digest).Key);
      if (stream === undefined) throw missing(digest);
      return checkStream(location, digest, stream);
    },
    async get(digest) {
      const bytes = await download(digest);
      if (bytes === undefined) throw missing(digest);
      return checkBytes(location, digest, bytes);
    },
    async remove(digest) {
      if (digest === digestOf(nothing)) return; // this object distinguishes the bucket from an emptied one
      const command = new DeleteObjectCommand(objectOf(digest));
      await within(limits.writeMs, (abortSignal) => client.send(command, { abortSignal }));
    },
    async size(digest) {
      const bytes = await sizeOf(digest);
      if (bytes !== undefined) return bytes;
      await check(); // HEAD also answers "missing" if the bucket itself is missing
      throw missing(digest);
    },
    presigned: {
      async upload(name, { digest, bytes }, contentType = unsaidType) {
        const command = new PutObjectCommand({
          Bucket: bucket,
          Key: leftAt(name),
          ContentType: contentType,
          ContentLength: bytes,
          ChecksumSHA256: sumOf(digest),
        });
        const headers = { 'content-type': contentType, 'x-amz-checksum-sha256': sumOf(digest) };
        const expiresAt = new Date(Date.now() + addressLifeMs);
        const url = await getSignedUrl(client, command, {
          expiresIn: addressLifeMs / 1_000,
          // Signed headers, so that the service enforces them on the upload; as query parameters nothing would enforce
          // them.
          unhoistableHeaders: new Set(Object.keys(headers)),
          signableHeaders: new Set([...Object.keys(headers), 'host', 'content-length']),
        });
        return { url, headers, expiresAt };
      },
      async take(name, awaited) {
        const left = await fetch(leftAt(name));
        if (left === undefined) throw nothingLeft();
        // Not copied within the store, because the holder of the address may replace the object at any time.
        try {
          await withReceived(workDir, left, awaited, (path) => uploadFile(path, awaited));
        } finally {
          left.destroy();
        }
      },
      async drop(name) {
        const command = new DeleteObjectCommand({ Bucket: bucket, Key: leftAt(name) });
        await within(limits.writeMs, (abortSignal) => client.send(command, { abortSignal }));
      },
      download: (digest, { name, contentType = unsaidType }) =>
        getSignedUrl(
          client,
          new GetObjectCommand({
            ...objectOf(digest),
            ResponseContentType: contentType,
            ResponseContentDisposition: attachmentOf(name),
          }),
          { expiresIn: addressLifeMs / 1_000 },
        ),
    },
  };
};
