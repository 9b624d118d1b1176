/**
 * Requests to one bucket, each within a time limit. The service stores objects atomically and checks the digest that
 * comes with each, so partial objects need no handling here. Transient failures are retried for about a second; then
 * the bucket is `unavailable` and the caller retries.
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

const nothing = new Uint8Array();
/** Empty blob, written at startup to prove write access and read by `check` to prove that the bucket is there. */
export const emptyBlob: AwaitedBlob = { digest: digestOf(nothing), bytes: 0 };
/**
 * Digest that no blob has. Without permission to list the bucket, S3 answers "forbidden" and not "missing" for it. So
 * a lookup at startup checks that permission.
 */
const absentDigest: Digest = `sha256:${'0'.repeat(64)}`;

/** Attempts at uploading a file. A stream can be read only once, so the client's own retries do not apply to it. */
const fileAttempts = 3;

/** Returns a digest in the form in which S3 takes checksums. */
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

/** Returns undefined where the work finds no object. */
const unlessMissing = async <Value>(work: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
};

/** Bucket, or the part of it under a prefix. All methods but the presigning ones throw `unavailable` on failure. */
export class Bucket {
  /** Location for messages. */
  readonly location: string;
  readonly #client: S3Client;
  readonly #name: string;
  /** Prefix of all keys, with its slash. */
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

  /** Returns the key of a temporary upload. They lie beside the blobs, under a prefix that no blob uses. */
  temporaryKeyOf(name: string): string {
    return `${this.#under}left/${name}`;
  }

  /** Writes the empty blob, to prove write access, and checks the permissions to read and to list. */
  async open(): Promise<void> {
    await this.upload(emptyBlob, () => nothing);
    await this.check();
    await this.sizeOf(absentDigest);
  }

  /** Throws `unavailable` if the bucket cannot be read, or has lost the empty blob. */
  async check(): Promise<void> {
    if ((await this.sizeOf(emptyBlob.digest, limits.checkMs)) !== undefined) return;
    throw new AppError(
      'unavailable',
      `blobs in ${this.location} cannot be used: the bucket is gone, or has been emptied`,
    );
  }

  /** Returns the size of a blob; undefined if it is absent, or the bucket is. */
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

  /** Returns an object as a stream; undefined if there is none. The transfer may take long, but may not stall. */
  fetch(key: string): Promise<Readable | undefined> {
    const fetched = async (abortSignal: AbortSignal): Promise<Readable> => {
      const command = new GetObjectCommand({ Bucket: this.#name, Key: key });
      const { Body } = await this.#client.send(command, { abortSignal });
      return Body instanceof Readable ? Body : Readable.from([nothing]);
    };
    return this.#within(limits.readMs, (abortSignal) => unlessMissing(fetched(abortSignal)));
  }

  /** Returns the bytes of a blob; undefined if it is absent. */
  download(digest: Digest): Promise<Uint8Array | undefined> {
    const downloaded = async (abortSignal: AbortSignal): Promise<Uint8Array> => {
      const command = new GetObjectCommand(this.#objectOf(digest));
      const { Body } = await this.#client.send(command, { abortSignal });
      if (Body instanceof Readable) addAbortSignal(abortSignal, Body);
      return (await Body?.transformToByteArray()) ?? nothing;
    };
    return this.#within(limits.readMs, (abortSignal) => unlessMissing(downloaded(abortSignal)));
  }

  /** Removes an object, if there is one. */
  async remove(key: string): Promise<void> {
    const command = new DeleteObjectCommand({ Bucket: this.#name, Key: key });
    await this.#within(limits.writeMs, (abortSignal) =>
      this.#client.send(command, { abortSignal }),
    );
  }

  /** Returns the presigned address of a temporary upload, with the headers that the service enforces. */
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

  /** Returns the presigned address of a blob, for a download under this name and type. */
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

  /** Runs the work within a time limit. If it fails, throws `unavailable`. */
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
