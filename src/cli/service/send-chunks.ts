/**
 * Uploads the chunks of a batch, several concurrently. Each is registered, sent unless its bytes are already stored,
 * and confirmed. Chunks that an interrupted command sent are only confirmed.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import PQueue from 'p-queue';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import { confirmChunk, registerChunk } from '#wire/public-api/operations.ts';
import type { ChunkView } from '#wire/public-api/worlds/data.ts';
import { sha256Of } from '../files/digest.ts';
import type { ImportNote } from '../files/import-note.ts';
import { chunkText, type RowChunk } from '../files/row-chunks.ts';
import { patiently } from './patient.ts';
import { addressFrom } from './signed-address.ts';

/** Maximum number of concurrent uploads. While all of them are in progress, at most one more chunk waits. */
const atOnce = 4;

const compress = promisify(gzip);

export type Sent = { chunks: number; rows: number; bytes: number; sentBytes: number };

type Target = {
  client: Client;
  slug: string;
  batchId: string;
  note: ImportNote;
  signal: AbortSignal;
  /** Called after each chunk that was stored. */
  onSent(sent: Sent): void;
};

const put = async (
  { uploadUrl, uploadHeaders }: ChunkView,
  bytes: Uint8Array<ArrayBuffer>,
  { client, signal }: Target,
): Promise<void> => {
  if (uploadUrl === undefined)
    throw new AppError('internal', 'the service named no address for the upload of a chunk');
  const url = addressFrom(client, uploadUrl);
  let answer: Response;
  try {
    answer = await fetch(url, { method: 'PUT', headers: uploadHeaders ?? {}, body: bytes, signal });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new AppError('unavailable', `cannot send rows to ${url.origin}`, { cause });
  }
  const text = await answer.text();
  if (answer.ok) return;
  // For an expired address, or a busy store, the caller asks for a new address.
  const message = `${url.origin} answered ${answer.status} to rows: ${text.slice(0, 200)}`;
  throw new AppError('unavailable', message, { detail: { status: answer.status } });
};

/** Confirms a chunk whose bytes may already be stored; returns undefined if they are not. */
const confirmEarlier = async (target: Target, chunkId: string): Promise<ChunkView | undefined> => {
  const params = { slug: target.slug, batchId: target.batchId, chunkId };
  try {
    const { body } = await target.client.send(confirmChunk, { params, signal: target.signal });
    return body.uploaded ? body : undefined;
  } catch (error) {
    if (error instanceof AppError && ['conflict', 'invalid'].includes(error.code)) return undefined;
    throw error;
  }
};

const sendOne = async (
  target: Target,
  chunk: RowChunk,
): Promise<{ bytes: number; wasSent: boolean }> => {
  const { client, slug, batchId, note, signal } = target;
  const packed = await compress(chunkText(chunk), { level: 5 });
  const bytes = new Uint8Array(packed);
  const digest = sha256Of(bytes);
  const body = {
    ordinal: chunk.ordinal,
    digest,
    bytes: bytes.byteLength,
    rows: chunk.places.length,
    ...(chunk.entity === undefined ? {} : { entity: chunk.entity }),
  };
  let wasSent = false;
  await patiently(signal, async () => {
    const params = { slug, batchId };
    const { body: view } = await client.send(registerChunk, { params, body, signal });
    if (view.uploaded) return;
    if (!wasSent && note.wasBegun(digest)) {
      if ((await confirmEarlier(target, view.chunkId)) !== undefined) return;
    }
    note.noteBegun(digest);
    await put(view, bytes, target);
    wasSent = true;
    const confirm = { ...params, chunkId: view.chunkId };
    await patiently(signal, () => client.send(confirmChunk, { params: confirm, signal }));
  });
  return { bytes: bytes.byteLength, wasSent };
};

/** Uploads all chunks. If the service refuses a chunk, throws the first refusal. */
export const sendChunks = async (
  target: Target,
  chunks: AsyncIterable<RowChunk>,
): Promise<Sent> => {
  const queue = new PQueue({ concurrency: atOnce });
  const sent: Sent = { chunks: 0, rows: 0, bytes: 0, sentBytes: 0 };
  let failure: { error: unknown } | undefined;
  const run = async (chunk: RowChunk): Promise<void> => {
    if (failure !== undefined) return;
    try {
      const { bytes, wasSent } = await sendOne(target, chunk);
      sent.chunks += 1;
      sent.rows += chunk.places.length;
      sent.bytes += bytes;
      sent.sentBytes += wasSent ? bytes : 0;
      target.onSent(sent);
    } catch (error) {
      failure ??= { error };
    }
  };
  try {
    for await (const chunk of chunks) {
      if (failure !== undefined || target.signal.aborted) break;
      void queue.add(() => run(chunk));
      await queue.onSizeLessThan(1);
    }
  } finally {
    await queue.onIdle();
  }
  if (target.signal.aborted) throw target.signal.reason;
  if (failure !== undefined) throw failure.error;
  return sent;
};
