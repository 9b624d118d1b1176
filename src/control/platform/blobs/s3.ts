/**
 * Blobs as objects of a bucket, under the names that they have in a folder. The service keeps an object
 * whole or not at all and is told the digest of each, so nothing here guards against halves. Failures
 * that pass are ridden out for a second; then it is unavailable, and whoever asked asks again.
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
 * How long an operation may take with all its attempts. What a host asks for must come within the ten
 * seconds after which it asks again, and a probe waits five.
 */
const limits = { readMs: 8_000, writeMs: 30_000, checkMs: 3_000 };
/** What a write has besides for each MiB: a store slower than one a second is of no use. */
const writeMsOfMib = 1_000;
const mib = 1024 * 1024;
const connectMs = 2_000;
const silenceMs = 5_000;
/** The first and five more: refused connections and the like are ridden out for 1.5 seconds at most. */
const mostAttempts = 6;

/** Written at the start to see that it can be, and read to see that the store is there. */
const nothing = new Uint8Array();
/** What nobody has: whoever may not list a bucket is told "forbidden" of it, and not "missing". */
const nobodys: Digest = `sha256:${'0'.repeat(64)}`;

const fileAttempts = 3;

const sumOf = (digest: Digest): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

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

/** Opens the store in a bucket that is there, and writes to it once; in `workDir` lies what is looked at. */
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
    // Digests are given and checked here; further sums are for who demands them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  /** Beside the blobs, under a name that none of these has. */
  const leftAt = (name: string): string => `${under}left/${name}`;
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
    // A stream is read once, so the client cannot send it again by itself.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await upload(measured, () => createReadStream(path));
        return;
      } catch (error) {
        if (attempt === fileAttempts) throw error;
      }
    }
  };
  /** An object as it is read; undefined when there is none. It may take long, but not be silent for long. */
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
          // The server holds whoever sends to them; else they would be in the address, and held to by none.
          unhoistableHeaders: new Set(Object.keys(headers)),
          signableHeaders: new Set([...Object.keys(headers), 'host', 'content-length']),
        });
        return { url, headers, expiresAt };
      },
      async take(name, awaited) {
        const left = await fetch(leftAt(name));
        if (left === undefined) throw nothingLeft();
        // Not copied within the store: what lies there may be replaced at any time by whoever has the address.
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
