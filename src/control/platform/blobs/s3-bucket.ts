/**
 * Sends requests to one bucket, each within a time limit. The service stores objects atomically and checks the digest
 * sent with each object, so partial objects need no handling here. Temporary failures are retried for about a second;
 * then `unavailable` is thrown and the caller retries.
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
  defaultContentType,
  digestOf,
  pathOf,
  type ReadAs,
  type S3Config,
  type UploadAddress,
} from './blobs.ts';

/**
 * Time limits of operations, including all attempts, in milliseconds. A host repeats its request after ten seconds, so
 * a read must take less; a readiness probe waits for five seconds.
 */
const limits = { readMs: 8_000, writeMs: 30_000, checkMs: 3_000 };
/**
 * Additional time limit of a write for each MiB, in milliseconds. A store that takes longer is too slow to be of use.
 */
const writeMsOfMib = 1_000;
const mib = 1024 * 1024;
const connectMs = 2_000;
const silenceMs = 5_000;
/**
 * Maximum number of attempts. With this number, refused connections and similar failures are retried for at most 1.5
 * seconds.
 */
const mostAttempts = 6;

const nothing = new Uint8Array();
/** Empty blob. It is written at startup to prove write access, and `check` reads it to prove that the bucket exists. */
export const emptyBlob: AwaitedBlob = { digest: digestOf(nothing), bytes: 0 };
/**
 * Digest that no blob has. If the permission to list the bucket is missing, S3 answers "forbidden" instead of "missing"
 * for an absent object. So a lookup of this digest at startup checks that permission.
 */
const absentDigest: Digest = `sha256:${'0'.repeat(64)}`;

/**
 * Maximum number of attempts at uploading a file. The client's own retries do not apply, because a stream can be read
 * only once.
 */
const fileAttempts = 3;

/** Returns a digest in the format of S3 checksums. */
const sumOf = (digest: Digest): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

const statusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;

/**
 * Returns the reason for a failure, and what to do about it. A refused HEAD request has only a status and no message.
 */
const reasonOf = (error: unknown): string => {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const status = statusOf(error);
  if (name === 'CredentialsProviderError') {
    return `${message}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the workload an identity`;
  }
  if (status === undefined) return describeError(error);
  const code = name === 'Unknown' ? `status ${status}` : name;
  if (status === 401 || status === 403) {
    return `${code}; check that the credentials are right and permit s3:GetObject, s3:PutObject and s3:ListBucket`;
  }
  return `${code}: ${message}`;
};

const clientOf = ({ region, endpoint, pathStyle }: S3Config): S3Client =>
  new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint }),
    forcePathStyle: pathStyle,
    maxAttempts: mostAttempts,
    retryMode: 'standard',
    requestHandler: { connectionTimeout: connectMs, socketTimeout: silenceMs },
    // This code sends and checks digests itself; further checksums are computed only where the service requires them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

/** Returns the result of the work; undefined if the bucket has no such object. */
const unlessMissing = async <Value>(work: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
};

/**
 * Bucket, or the part of a bucket under a prefix. Every method throws `unavailable` when it fails, except the methods
 * that only presign addresses.
 */
export class Bucket {
  /** Location of the bucket as messages name it. */
  readonly location: string;
  readonly #client: S3Client;
  readonly #name: string;
  /** Prefix of all keys, with a slash at its end. */
  readonly #under: string;

  constructor(s3: S3Config) {
    const { bucket, prefix, region, endpoint } = s3;
    this.location = `s3://${bucket}/${prefix} at ${endpoint ?? `Amazon S3 in ${region}`}`;
    this.#client = clientOf(s3);
    this.#name = bucket;
    this.#under = prefix === '' ? '' : `${prefix}/`;
  }

  /** Returns the key of a blob. */
  keyOf(digest: Digest): string {
    return `${this.#under}${pathOf(digest)}`;
  }

  /**
   * Returns the key of a temporary upload. Such keys are in the same bucket as the blobs, under a prefix that no blob
   * uses.
   */
  temporaryKeyOf(name: string): string {
    return `${this.#under}left/${name}`;
  }

  /** Writes the empty blob to prove write access, and checks the permissions to read and to list. */
  async open(): Promise<void> {
    await this.upload(emptyBlob, () => nothing);
    await this.check();
    await this.sizeOf(absentDigest);
  }

  /** Throws `unavailable` if the bucket cannot be read, or no longer has the empty blob. */
  async check(): Promise<void> {
    if ((await this.sizeOf(emptyBlob.digest, limits.checkMs)) !== undefined) return;
    throw new AppError(
      'unavailable',
      `blobs in ${this.location} cannot be used: the bucket does not exist any more, or was emptied`,
    );
  }

  /** Returns the size of a blob in bytes; undefined if the blob or the whole bucket does not exist. */
  sizeOf(digest: Digest, ms = limits.readMs): Promise<number | undefined> {
    return this.#within(ms, async (abortSignal) => {
      try {
        const command = new HeadObjectCommand(this.#objectOf(digest));
        return (await this.#client.send(command, { abortSignal })).ContentLength ?? 0;
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    });
  }

  /** Uploads a blob; `bodyOf` returns its bytes. */
  async upload({ digest, bytes }: AwaitedBlob, bodyOf: () => Uint8Array | Readable): Promise<void> {
    const command = () =>
      new PutObjectCommand({
        ...this.#objectOf(digest),
        Body: bodyOf(),
        ContentLength: bytes,
        ContentType: defaultContentType,
        ChecksumSHA256: sumOf(digest),
      });
    const ms = limits.writeMs + Math.ceil(bytes / mib) * writeMsOfMib;
    await this.#within(ms, (abortSignal) => this.#client.send(command(), { abortSignal }));
  }

  /** Uploads a file as a blob. */
  async uploadFile(path: string, measured: AwaitedBlob): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.upload(measured, () => createReadStream(path));
        return;
      } catch (error) {
        if (attempt === fileAttempts) throw error;
      }
    }
  }

  /**
   * Returns an object as a stream; undefined if it does not exist. The transfer may take long, but fails if it stalls.
   */
  fetch(key: string): Promise<Readable | undefined> {
    const fetched = async (abortSignal: AbortSignal): Promise<Readable> => {
      const command = new GetObjectCommand({ Bucket: this.#name, Key: key });
      const { Body } = await this.#client.send(command, { abortSignal });
      return Body instanceof Readable ? Body : Readable.from([nothing]);
    };
    return this.#within(limits.readMs, (abortSignal) => unlessMissing(fetched(abortSignal)));
  }

  /** Returns the bytes of a blob; undefined if it does not exist. */
  download(digest: Digest): Promise<Uint8Array | undefined> {
    const downloaded = async (abortSignal: AbortSignal): Promise<Uint8Array> => {
      const command = new GetObjectCommand(this.#objectOf(digest));
      const { Body } = await this.#client.send(command, { abortSignal });
      if (Body instanceof Readable) addAbortSignal(abortSignal, Body);
      return (await Body?.transformToByteArray()) ?? nothing;
    };
    return this.#within(limits.readMs, (abortSignal) => unlessMissing(downloaded(abortSignal)));
  }

  /** Removes an object, if it exists. */
  async remove(key: string): Promise<void> {
    const command = new DeleteObjectCommand({ Bucket: this.#name, Key: key });
    await this.#within(limits.writeMs, (abortSignal) =>
      this.#client.send(command, { abortSignal }),
    );
  }

  /** Returns the presigned address of a temporary upload, with the headers that the service requires. */
  async uploadAddress(
    name: string,
    { digest, bytes }: AwaitedBlob,
    contentType: string,
  ): Promise<UploadAddress> {
    const command = new PutObjectCommand({
      Bucket: this.#name,
      Key: this.temporaryKeyOf(name),
      ContentType: contentType,
      ContentLength: bytes,
      ChecksumSHA256: sumOf(digest),
    });
    const headers = { 'content-type': contentType, 'x-amz-checksum-sha256': sumOf(digest) };
    const expiresAt = new Date(Date.now() + addressLifeMs);
    const url = await getSignedUrl(this.#client, command, {
      expiresIn: addressLifeMs / 1_000,
      // Signed headers, so that the service enforces them on the upload; as query parameters nothing would enforce
      // them.
      unhoistableHeaders: new Set(Object.keys(headers)),
      signableHeaders: new Set([...Object.keys(headers), 'host', 'content-length']),
    });
    return { url, headers, expiresAt };
  }

  /** Returns the presigned address for downloading a blob under the given file name and content type. */
  downloadAddress(
    digest: Digest,
    { name, contentType = defaultContentType }: ReadAs,
  ): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#objectOf(digest),
      ResponseContentType: contentType,
      ResponseContentDisposition: attachmentOf(name),
    });
    return getSignedUrl(this.#client, command, { expiresIn: addressLifeMs / 1_000 });
  }

  #objectOf(digest: Digest): { Bucket: string; Key: string } {
    return { Bucket: this.#name, Key: this.keyOf(digest) };
  }

  /** Runs a function within a time limit. If the function fails, throws `unavailable`. */
  async #within<Value>(
    ms: number,
    work: (abortSignal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const signal = AbortSignal.timeout(ms);
    try {
      return await work(signal);
    } catch (error) {
      const reason = signal.aborted ? `no answer in ${ms} ms` : reasonOf(error);
      // The error is not attached as the cause, because it holds the answer and its headers.
      throw new AppError('unavailable', `blobs in ${this.location} cannot be used: ${reason}`);
    }
  }
}
