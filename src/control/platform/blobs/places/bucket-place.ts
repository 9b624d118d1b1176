/**
 * Bucket of a user as an external source or target of files. Requests use the credentials that the user gave, never
 * those of the service. Only public addresses are allowed, unless the operator configured the endpoint. Answers are
 * limited in size, and redirects are not followed.
 */
import { Agent } from 'node:https';
import { addAbortSignal, Readable, Transform } from 'node:stream';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { AppError, describeError } from '#domain/error.ts';
import type { Resolve } from '#egress/resolve.ts';
import { guardedLookup } from './guarded-lookup.ts';
import { type Listing, mostPlaced, type Outgoing, type Place } from './place.ts';

export type BucketKeys = { accessKeyId: string; secretAccessKey: string };

export type BucketAddress = {
  bucket: string;
  /** Prefix of all keys: empty, or path segments joined by `/`. */
  prefix: string;
  region: string;
  /** Origin of the service; null for Amazon's own endpoint in the region. */
  endpoint: string | null;
};

/** Number of keys in a page of a listing, and maximum size of an answer that is no file, in bytes. */
const pageKeys = 200;
const answerBytes = 512 * 1024;
const pageMs = 10_000;
const headMs = 10_000;
const connectMs = 3_000;
const silenceMs = 10_000;
const mostAttempts = 3;

const reasonOf = (error: unknown): string => {
  if (!(error instanceof S3ServiceException)) return describeError(error);
  const { httpStatusCode: status } = error.$metadata;
  const said = error.name === 'Unknown' ? `status ${status}` : `${error.name}: ${error.message}`;
  const isKeys = status === 401 || status === 403;
  return isKeys
    ? `${said}; check that the keys are right and permit s3:ListBucket, s3:GetObject and, to push, s3:PutObject`
    : said;
};

/** Passes on up to `answerBytes` bytes, and fails if there are more. */
const capped = (source: Readable): Readable => {
  let bytes = 0;
  const cap = new Transform({
    transform(piece: Buffer, _, done) {
      bytes += piece.byteLength;
      done(
        bytes > answerBytes ? new Error(`the answer has more than ${answerBytes} bytes`) : null,
        piece,
      );
    },
  });
  source.once('error', (error) => cap.destroy(error));
  cap.once('close', () => source.destroy());
  return source.pipe(cap);
};

type Heard = { response?: { statusCode?: number; body?: unknown } };

const clientFor = (
  { region, endpoint }: BucketAddress,
  keys: BucketKeys,
  resolve: Resolve | undefined,
): S3Client => {
  const timing = { connectionTimeout: connectMs, socketTimeout: silenceMs };
  const client = new S3Client({
    region,
    // Always explicit, because the environment may name an endpoint for the service's own bucket.
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    forcePathStyle: endpoint !== null,
    credentials: keys,
    maxAttempts: mostAttempts,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler:
      resolve === undefined
        ? timing
        : { ...timing, httpsAgent: new Agent({ lookup: guardedLookup(resolve), maxSockets: 16 }) },
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const heard = await next(args);
        const { response } = heard as Heard;
        const isFile = commandName === 'GetObjectCommand' && (response?.statusCode ?? 0) < 300;
        if (!isFile && response?.body instanceof Readable) response.body = capped(response.body);
        return heard;
      },
    { step: 'deserialize', priority: 'low', name: 'capAnswers' },
  );
  return client;
};

/** Opens the bucket without sending a request. If `resolve` is given, only public addresses are allowed. */
export const openBucketPlace = (
  address: BucketAddress,
  keys: BucketKeys,
  resolve: Resolve | undefined,
): Place => {
  const { bucket, prefix, region, endpoint } = address;
  const under = prefix === '' ? '' : `${prefix}/`;
  const location = `s3://${bucket}/${prefix} at ${endpoint ?? `Amazon S3 in ${region}`}`;
  const client = clientFor(address, keys, resolve);
  /**
   * Runs a function within a time limit. If the function fails, throws `unavailable` with the location and the reason.
   */
  const within = async <Value>(
    ms: number,
    signal: AbortSignal,
    work: (abortSignal: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    const late = AbortSignal.timeout(ms);
    try {
      return await work(AbortSignal.any([late, signal]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const reason = late.aborted ? `no answer in ${ms} ms` : reasonOf(error);
      // The error is not attached as the cause, because it holds the signed request.
      throw new AppError('unavailable', `${location} cannot be used: ${reason}`);
    }
  };
  const readPage = (from: string | undefined, signal: AbortSignal) =>
    within(pageMs, signal, (abortSignal) =>
      client.send(
        new ListObjectsV2Command({
          ...{ Bucket: bucket, Prefix: under, MaxKeys: pageKeys },
          ContinuationToken: from,
        }),
        { abortSignal },
      ),
    );
  return {
    location,
    async list(signal) {
      const found: Listing = { files: [], warnings: [], isCut: false };
      for (let from: string | undefined; ; ) {
        const page = await readPage(from, signal);
        for (const { Key = '', Size = 0, ETag = '' } of page.Contents ?? []) {
          // Keys that end in a slash stand for folders.
          if (!Key.startsWith(under) || Key === under || Key.endsWith('/')) continue;
          found.files.push({ path: Key.slice(under.length), bytes: Size, stamp: ETag });
        }
        from = page.IsTruncated === true ? page.NextContinuationToken : undefined;
        if (
          found.files.length > mostPlaced ||
          (from !== undefined && found.files.length === mostPlaced)
        ) {
          return { ...found, files: found.files.slice(0, mostPlaced), isCut: true };
        }
        if (from === undefined) return found;
      }
    },
    read: (path, signal) =>
      within(headMs, signal, async (abortSignal) => {
        const command = new GetObjectCommand({ Bucket: bucket, Key: `${under}${path}` });
        const { Body, ContentType } = await client.send(command, { abortSignal });
        const stream = Body instanceof Readable ? Body : Readable.from([]);
        addAbortSignal(signal, stream);
        return { stream, contentType: ContentType };
      }),
    async write(path, { bytes, contentType, read }: Outgoing, signal) {
      const Body = await read();
      const command = new PutObjectCommand({
        ...{ Bucket: bucket, Key: `${under}${path}`, Body },
        ...{ ContentLength: bytes, ContentType: contentType },
      });
      const ms = headMs + Math.ceil(bytes / (1024 * 1024)) * 1_000;
      try {
        return (
          (await within(ms, signal, (abortSignal) => client.send(command, { abortSignal }))).ETag ??
          ''
        );
      } finally {
        Body.destroy();
      }
    },
    close: () => client.destroy(),
  };
};
