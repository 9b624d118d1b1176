/**
 * Media: bytes that traces and items of datasets refer to. The id of media is derived from the digest of the bytes. A
 * client can therefore write the id into its references before it uploads the bytes, and the same bytes are uploaded
 * only once in a project.
 */
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import type { MediaBody, UploadReport } from '#wire/public-api/projects/media.ts';
import { type AwaitedRow, discardAwaited, settleAwaited } from '../../db/projects/awaited-files.ts';
import { countBytes } from '../../db/projects/files.ts';
import {
  findMedia,
  findMediaThere,
  linkMedia,
  listAwaitedMedia,
  type MediaRow,
  markUploaded,
  noteFailure,
  putMedia,
} from '../../db/projects/media.ts';
import { checkArrived } from '../../platform/blobs/arrived.ts';
import type { ProjectParts } from '../parts.ts';
import { awaitBytes, digestFrom } from './uploads.ts';

/** Returns the id of media; clients derive it from the digest in the same way. */
export const mediaIdOf = (sha256: string): string =>
  sha256.replaceAll('+', '-').replaceAll('/', '_').slice(0, 22);

const field = (name: string, message: string): AppError =>
  new AppError('invalid', `${name} ${message}`, { fields: [{ path: [name], message }] });

/**
 * Returns the owner of media that the body names: a trace, optionally with one of its observations, or an item of a
 * dataset.
 */
const readOwner = (body: MediaBody) => {
  const { traceId, observationId, datasetId, datasetItemId } = body;
  const ofItem = datasetId !== undefined || datasetItemId !== undefined;
  if (ofItem && (traceId !== undefined || observationId !== undefined)) {
    const given = Object.entries({ traceId, observationId, datasetId, datasetItemId })
      .filter(([, id]) => id !== undefined)
      .map(([name]) => name);
    const message =
      'media belongs either to a trace or to an item of a dataset: give the ids of only one of them';
    throw new AppError(
      'invalid',
      `${given.join(', ')} are given together: media belongs either to a trace or to an item of a dataset`,
      {
        fields: given.map((name) => ({ path: [name], message })),
      },
    );
  }
  if (ofItem && (datasetId === undefined || datasetItemId === undefined)) {
    throw field(datasetId === undefined ? 'datasetId' : 'datasetItemId', 'is required');
  }
  if (!ofItem && traceId === undefined) throw field('traceId', 'is required');
  const fits = ofItem ? body.field !== 'output' : body.field !== 'expectedOutput';
  if (!fits)
    throw field('field', `"${body.field}" is no field of ${ofItem ? 'an item' : 'a trace'}`);
  return {
    traceId: traceId ?? null,
    observationId: observationId ?? null,
    datasetId: datasetId ?? null,
    datasetItemId: datasetItemId ?? null,
    field: body.field,
  };
};

const addressOf = async ({ addresses }: ProjectParts, awaited: AwaitedRow): Promise<string> => {
  const { id, digest, bytes, contentType } = awaited;
  return (await addresses.upload(id, { digest, bytes }, contentType)).url;
};

const noteMedia = (
  parts: ProjectParts,
  media: Omit<MediaRow, 'uploadedAt'>,
  owner: ReturnType<typeof readOwner>,
): Promise<MediaRow> =>
  parts.db.transaction(async (tx) => {
    const row = await putMedia(tx, media);
    await linkMedia(tx, { ...owner, projectId: media.projectId, mediaId: media.id });
    return row;
  });

/** Returns the address to upload media to; null if the project already has the bytes. */
export const requestMedia = async (
  parts: ProjectParts,
  projectId: string,
  body: MediaBody,
): Promise<{ mediaId: string; uploadUrl: string | null }> => {
  const owner = readOwner(body);
  const digest: Digest = digestFrom(body.sha256Hash);
  const { contentType, contentLength: bytes } = body;
  const mediaId = mediaIdOf(body.sha256Hash);
  const known = await findMedia(parts.db, projectId, mediaId);
  if (known !== undefined && known.bytes !== bytes) {
    throw field(
      'contentLength',
      `must be ${known.bytes}, the length of the bytes with this digest`,
    );
  }
  const media = { id: mediaId, projectId, digest, bytes, contentType };
  // Bytes that are awaited already share one upload. Media of another type get an upload of their own, which carries
  // the type.
  const [under] = await listAwaitedMedia(parts.db, projectId, digest);
  const isThere = known !== undefined && known.uploadedAt !== null;
  if (isThere || (under !== undefined && under.contentType === contentType)) {
    const row = await noteMedia(parts, media, owner);
    if (row.uploadedAt !== null) return { mediaId, uploadUrl: null };
    if (under !== undefined) return { mediaId, uploadUrl: await addressOf(parts, under) };
  }
  const wanted = {
    projectId,
    path: null,
    digest,
    bytes,
    contentType,
    author: '',
    overwrite: false,
  };
  const awaited = await awaitBytes(parts, wanted, async (tx) => {
    await putMedia(tx, media);
    await linkMedia(tx, { ...owner, projectId, mediaId });
  });
  return { mediaId, uploadUrl: await addressOf(parts, awaited) };
};

export const noMedia = (): AppError => new AppError('not_found', 'Media asset not found');

/**
 * Returns the first upload whose bytes have arrived. If no bytes have arrived, throws the error of the first upload.
 */
const findArrived = async (
  { blobs }: ProjectParts,
  awaited: readonly AwaitedRow[],
): Promise<AwaitedRow> => {
  let failure: unknown = new AppError('conflict', 'the upload has expired: request a new one');
  for (const [index, one] of awaited.entries()) {
    try {
      await checkArrived(blobs, one);
      return one;
    } catch (error) {
      if (index === 0) failure = error;
    }
  }
  throw failure;
};

/** Parses a time that a client wrote; returns the present time if it is not valid. */
const timeOf = (text: string): Date => {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? new Date() : time;
};

/** Processes a client's report that its upload has succeeded or failed. */
export const reportMedia = async (
  parts: ProjectParts,
  projectId: string,
  id: string,
  report: UploadReport,
): Promise<void> => {
  const { db, blobs } = parts;
  const media = await findMedia(db, projectId, id);
  if (media === undefined) throw noMedia();
  if (media.uploadedAt !== null) return;
  const { uploadHttpStatus: status, uploadHttpError: error } = report;
  if (status < 200 || status > 299) {
    await noteFailure(db, media, { status, error: error?.slice(0, 2_000) ?? null });
    return;
  }
  const awaited = await listAwaitedMedia(db, projectId, media.digest);
  const arrived = await findArrived(parts, awaited);
  await db.transaction(async (tx) => {
    if (!(await settleAwaited(tx, arrived.id))) return;
    const uploadedAt = timeOf(report.uploadedAt);
    if (await markUploaded(tx, media, { uploadedAt, status })) {
      await countBytes(tx, projectId, media.bytes);
    }
    for (const other of awaited.filter((one) => one !== arrived))
      await discardAwaited(tx, other.id);
  });
  for (const { id: left } of awaited) await blobs.presigned?.drop(left);
};

/** Finds media that items refer to, by id, each with an address to download it from. */
export const findReferredMedia = async (
  { db, addresses }: ProjectParts,
  projectId: string,
  ids: readonly string[],
) => {
  const found = await findMediaThere(db, projectId, ids);
  const shown = found.map(async ({ id: mediaId, digest, contentType, bytes }) => {
    const { url, expiresAt } = await addresses.download(digest, { name: mediaId, contentType });
    const urlExpiry = expiresAt.toISOString();
    return [mediaId, { mediaId, contentType, contentLength: bytes, url, urlExpiry }] as const;
  });
  return new Map(await Promise.all(shown));
};
