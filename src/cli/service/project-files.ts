/**
 * Transfers files between a project and this machine. A file that is equal on both is skipped, so an interrupted
 * command is simply run again. A downloaded file replaces the local one only after its digest was checked.
 */
import { openAsBlob } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '#domain/error.ts';
import { makeFolders } from '#runtime/folders.ts';
import type { Client } from '#wire/client.ts';
import {
  confirmFileUpload,
  downloadFile,
  listFiles,
  requestFileUpload,
} from '#wire/public-api/operations.ts';
import type { DownloadView, FileView } from '#wire/public-api/projects/file.ts';
import { measureLocal, sumOfLocal, typeOfName } from '../files/local-files.ts';
import { patiently } from './patient.ts';
import { addressFrom } from './signed-address.ts';

const pageFiles = 200;

/** Returns the file at a path of the project; undefined if there is none. */
export const findRemote = async (
  client: Client,
  path: string,
): Promise<DownloadView | undefined> => {
  try {
    return (await client.send(downloadFile, { query: { path } })).body;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
};

/** Yields all files in a folder of the project, at any depth. */
export async function* walkRemote(client: Client, prefix: string): AsyncGenerator<FileView> {
  const folders: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { prefix, limit: pageFiles, ...(cursor === undefined ? {} : { cursor }) };
    const { body } = await client.send(listFiles, { query });
    yield* body.files;
    folders.push(...body.folders.map(({ path }) => path));
    if (body.nextCursor === null) break;
    cursor = body.nextCursor;
  }
  for (const folder of folders) yield* walkRemote(client, folder);
}

/**
 * Converts a failed upload into an error. Wrong bytes (400) become `invalid`, which is not retried. An expired URL or a
 * busy store becomes `unavailable`, which is retried.
 */
const refusedBy = async (answer: Response, what: string): Promise<AppError> => {
  const text = (await answer.text()).slice(0, 200);
  const code = answer.status === 400 ? 'invalid' : 'unavailable';
  const { origin } = new URL(answer.url);
  return new AppError(code, `${what}: ${origin} answered ${answer.status} ${text}`);
};

type Put = { at: string; path: string; contentType?: string | undefined; overwrite: boolean };

/** Uploads a file, unless the project has the same file at this path. Returns whether it was uploaded or skipped. */
export const putFile = async (
  client: Client,
  { at, path, contentType = typeOfName(path), overwrite }: Put,
  signal: AbortSignal,
): Promise<'sent' | 'unchanged'> => {
  const { bytes, sha256 } = await measureLocal(at);
  const there = await findRemote(client, path);
  if (there?.sha256 === sha256) return 'unchanged';
  const body = { path, contentLength: bytes, contentType, sha256, overwrite };
  await patiently(signal, async () => {
    const { body: upload } = await client.send(requestFileUpload, { body, signal });
    if (!upload.held) {
      const url = addressFrom(client, upload.uploadUrl);
      const file = await openAsBlob(at);
      const request = { method: 'PUT', headers: upload.uploadHeaders, body: file, signal };
      const answer = await fetch(url, request).catch((cause: unknown) => {
        if (signal.aborted) throw signal.reason;
        throw new AppError('unavailable', `cannot send ${path} to ${url.origin}`, { cause });
      });
      if (!answer.ok) throw await refusedBy(answer, `cannot send ${path}`);
      await answer.body?.cancel();
    }
    await client.send(confirmFileUpload, { body: { fileId: upload.fileId, ok: true }, signal });
  });
  return 'sent';
};

/** Streams the bytes of a file of the project. */
export const readRemote = async (
  client: Client,
  { path, url }: Pick<DownloadView, 'path' | 'url'>,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> => {
  const address = addressFrom(client, url);
  const answer = await fetch(address, { signal }).catch((cause: unknown) => {
    if (signal.aborted) throw signal.reason;
    throw new AppError('unavailable', `cannot read ${path} from ${address.origin}`, { cause });
  });
  if (!answer.ok || answer.body === null) throw await refusedBy(answer, `cannot read ${path}`);
  return answer.body;
};

/**
 * Downloads a file of the project, unless this machine has the same file. Returns whether it was downloaded or skipped.
 */
export const getFile = async (
  client: Client,
  { path, at }: { path: string; at: string },
  signal: AbortSignal,
): Promise<'written' | 'unchanged'> => {
  const { body } = await client.send(downloadFile, { query: { path }, signal });
  if ((await sumOfLocal(at)) === body.sha256) return 'unchanged';
  await makeFolders(dirname(at));
  const part = `${at}.svc-part`;
  await patiently(signal, async () => {
    const file = await open(part, 'w');
    try {
      for await (const piece of await readRemote(client, body, signal)) await file.write(piece);
    } finally {
      await file.close();
    }
  });
  if ((await sumOfLocal(part)) !== body.sha256) {
    await rm(part, { force: true });
    throw new AppError(
      'unavailable',
      `the downloaded bytes of ${path} differ from those in the project: try again`,
    );
  }
  await rename(part, at);
  return 'written';
};
