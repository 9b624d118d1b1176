/** Uploads media to the service and downloads it into files. */
import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import { reportMediaUpload, requestMediaUpload } from '#wire/public-api/operations.ts';
import type { MediaBody } from '#wire/public-api/projects/media.ts';
import { measureLocal } from '../files/local-files.ts';
import { readRemote } from './project-files.ts';
import { addressFrom } from './signed-address.ts';

type Owner = Pick<MediaBody, 'traceId' | 'observationId' | 'datasetId' | 'datasetItemId' | 'field'>;

/** Formats the reference to media in a trace, in the format that Langfuse's SDKs use. */
const referenceOf = (mediaId: string, contentType: string): string =>
  `@@@langfuseMedia:type=${contentType}|id=${mediaId}|source=file@@@`;

const sendBytes = async (client: Client, uploadUrl: string, at: string, contentType: string) => {
  const url = addressFrom(client, uploadUrl);
  const { sha256 } = await measureLocal(at);
  const headers = { 'content-type': contentType, 'x-amz-checksum-sha256': sha256 };
  const body = await openAsBlob(at);
  try {
    return await fetch(url, { method: 'PUT', headers, body });
  } catch (cause) {
    throw new AppError('unavailable', `cannot send ${at} to ${url.origin}`, { cause });
  }
};

/** Uploads a file, unless the project already has its bytes. Returns the media's id and the reference to it. */
export const sendMedia = async (
  client: Client,
  { at, contentType, owner }: { at: string; contentType: string; owner: Owner },
): Promise<{ mediaId: string; reference: string; sent: boolean }> => {
  const { bytes, sha256 } = await measureLocal(at);
  const body = { ...owner, contentType, contentLength: bytes, sha256Hash: sha256 };
  const { mediaId, uploadUrl } = (await client.send(requestMediaUpload, { body })).body;
  const reference = referenceOf(mediaId, contentType);
  if (uploadUrl === null) return { mediaId, reference, sent: false };
  const answer = await sendBytes(client, uploadUrl, at, contentType);
  const text = (await answer.text()).slice(0, 200);
  const report = {
    uploadedAt: new Date().toISOString(),
    uploadHttpStatus: answer.status,
    ...(answer.ok ? {} : { uploadHttpError: text }),
  };
  await client.send(reportMediaUpload, { params: { mediaId }, body: report });
  if (answer.ok) return { mediaId, reference, sent: true };
  throw new AppError(
    'unavailable',
    `cannot send ${at}: the address answered ${answer.status} ${text}`,
  );
};

/** Downloads media into a file. */
export const fetchMedia = async (
  client: Client,
  { mediaId, url }: { mediaId: string; url: string },
  at: string,
): Promise<void> => {
  const file = await open(at, 'w');
  try {
    const bytes = await readRemote(client, { path: mediaId, url }, new AbortController().signal);
    for await (const piece of bytes) await file.write(piece);
  } finally {
    await file.close();
  }
};
