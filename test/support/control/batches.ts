/** Sends rows in batches, as a client does. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { until } from '#runtime/pause.ts';
import {
  completeBatch,
  confirmChunk,
  createBatch,
  getBatch,
  registerChunk,
} from '#wire/public-api/operations.ts';
import type { BatchView, ChunkView, CreateBatchBody } from '#wire/public-api/worlds/data.ts';
import type { TestControl } from './control.ts';

export type Chunk = { bytes: Buffer; digest: string; rows: number; entity?: string };

/** Builds a chunk of rows of one entity. */
export const chunkOf = (rows: readonly unknown[], entity?: string): Chunk => {
  const bytes = gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { bytes, digest, rows: rows.length, ...(entity === undefined ? {} : { entity }) };
};

const finalStates = ['applied', 'refused', 'published', 'failed'];

/**
 * Creates a client that sends batches to a world of a control plane. It replaces the host of the upload addresses by
 * the one on which the control plane listens.
 */
export const senderTo = (control: TestControl, slug: string) => {
  const here = (url: string): string => {
    const { pathname, search } = new URL(url);
    return `${control.running.addresses.public[0]}${pathname}${search}`;
  };
  const open = async (body: CreateBatchBody = {}): Promise<string> =>
    (await control.send(createBatch, { params: { slug }, body })).body.batchId;
  const register = async (batchId: string, ordinal: number, chunk: Chunk): Promise<ChunkView> => {
    const { digest, rows, entity, bytes } = chunk;
    const body = {
      ...{ ordinal, digest, rows, bytes: bytes.byteLength },
      ...(entity === undefined ? {} : { entity }),
    };
    return (await control.send(registerChunk, { params: { slug, batchId }, body })).body;
  };
  const put = async ({ uploadUrl = '', uploadHeaders }: ChunkView, bytes: Buffer) => {
    const isOurs = uploadUrl.startsWith('https://svc.test/');
    const body = new Uint8Array(bytes);
    const headers = uploadHeaders ?? {};
    return fetch(isOurs ? here(uploadUrl) : uploadUrl, { method: 'PUT', headers, body });
  };
  const confirm = async (batchId: string, chunkId: string): Promise<ChunkView> =>
    (await control.send(confirmChunk, { params: { slug, batchId, chunkId } })).body;
  const read = async (batchId: string): Promise<BatchView> =>
    (await control.read(getBatch, { params: { slug, batchId } })).body;
  const complete = async (batchId: string): Promise<BatchView> =>
    (await control.send(completeBatch, { params: { slug, batchId } })).body;
  const end = (batchId: string): Promise<BatchView> =>
    until(
      async () => {
        const batch = await read(batchId);
        return finalStates.includes(batch.state) && batch;
      },
      { timeoutMs: 60_000, everyMs: 50, what: `batch ${batchId} to end` },
    );
  const sendChunk = async (batchId: string, ordinal: number, chunk: Chunk): Promise<ChunkView> => {
    const registered = await register(batchId, ordinal, chunk);
    if (registered.uploaded) return registered;
    const answer = await put(registered, chunk.bytes);
    if (!answer.ok) throw new Error(`chunk ${ordinal}: ${answer.status} ${await answer.text()}`);
    return confirm(batchId, registered.chunkId);
  };
  return {
    ...{ here, open, register, put, confirm, read, complete, end, sendChunk },
    /** Opens a batch, sends chunks, seals it and waits for its end. */
    async send(body: CreateBatchBody, ...chunks: Chunk[]): Promise<BatchView> {
      const batchId = await open(body);
      for (const [ordinal, chunk] of chunks.entries()) await sendChunk(batchId, ordinal, chunk);
      await complete(batchId);
      return end(batchId);
    },
  };
};
