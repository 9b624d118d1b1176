/**
 * Imports rows from start to end. A few rows are sent in one request. More rows are sent as chunks of a batch, which
 * the same command continues after an interruption.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';
import { completeBatch, createBatch, getBatch, importData } from '#wire/public-api/operations.ts';
import type { BatchView, ImportBody, RefusalView } from '#wire/public-api/worlds/data.ts';
import type { ImportNote } from '../files/import-note.ts';
import type { RowChunk } from '../files/row-chunks.ts';
import { patiently } from './patient.ts';
import { type Sent, sendChunks } from './send-chunks.ts';

export type ImportHow = Pick<ImportBody, 'mode' | 'redact' | 'atomic' | 'dryRun' | 'message'> & {
  publish?: 'later';
};

export type ImportJob = {
  client: Client;
  slug: string;
  how: ImportHow;
  note: ImportNote;
  signal: AbortSignal;
  /**
   * Callbacks for progress. `onSent` is called by `sendChunks`; `onBatch` is called with the state of the batch in the
   * service until the import has ended.
   */
  onSent(sent: Sent): void;
  onBatch(batch: BatchView): void;
};

/** Finds the place of a rejected row in the user's files. */
export type FindPlace = (refusal: Pick<RefusalView, 'chunk' | 'index'>) => string | undefined;

export type ImportEnd = { batch: BatchView; placeOf: FindPlace; sent: Sent };

/** Maximum size of an import in one request, in characters of JSON. */
const inlineChars = 512 * 1024;
const lookEveryMs = 500;

const placeText = (source: string, at: number | undefined): string | undefined =>
  at === undefined ? undefined : `${source}:${at}`;

const over = ['applied', 'refused', 'published', 'failed'];

const follow = async (job: ImportJob, batchId: string): Promise<BatchView> => {
  const { client, slug, signal } = job;
  for (let wait = lookEveryMs / 5; ; wait = Math.min(wait * 1.5, lookEveryMs * 2)) {
    const read = () => client.send(getBatch, { params: { slug, batchId }, signal });
    const { body } = await patiently(signal, read);
    if (over.includes(body.state)) return body;
    job.onBatch(body);
    await delay(wait, undefined, { signal });
  }
};

const sizeOf = ({ rows }: RowChunk): number => rows.reduce((sum, { json }) => sum + json.length, 0);

/**
 * Takes as many of the first chunks as fit into one request. `rest` yields all further chunks; null if there are none.
 */
const takeFew = async (chunks: AsyncGenerator<RowChunk>) => {
  const few: RowChunk[] = [];
  let chars = 0;
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) return { few, rest: null };
    few.push(value);
    chars += sizeOf(value);
    if (chars > inlineChars) return { few, rest: chunks };
  }
};

async function* all(few: readonly RowChunk[], rest: AsyncGenerator<RowChunk> | null) {
  yield* few;
  if (rest !== null) yield* rest;
}

/**
 * Imports a few rows in one request, grouped by entity. A refusal identifies its row by the index among all rows of the
 * request, in this order.
 */
const importFew = async (job: ImportJob, chunks: readonly RowChunk[]): Promise<ImportEnd> => {
  const { client, slug, how, note, signal } = job;
  const { publish: _, ...body } = how;
  const byEntity = new Map<string, { row: unknown; place: string | undefined }[]>();
  for (const { source, rows: given, places } of chunks) {
    for (const [index, { entity, json }] of given.entries()) {
      const list = byEntity.get(entity) ?? [];
      byEntity.set(entity, list);
      list.push({ row: JSON.parse(json), place: placeText(source, places[index]) });
    }
  }
  const rows = Object.fromEntries(
    [...byEntity].map(([entity, list]) => [entity, list.map(({ row }) => row)]),
  );
  const flat = [...byEntity.values()].flatMap((list) => list.map(({ place }) => place));
  const placeOf: FindPlace = ({ index }) => (index === null ? undefined : flat[index]);
  const sent = { chunks: 0, rows: flat.length, bytes: 0, sentBytes: 0 };
  const headers = { 'idempotency-key': note.idempotencyKey };
  const read = async (batchId: unknown): Promise<ImportEnd> => {
    if (typeof batchId !== 'string') throw new AppError('internal', 'the import has no batch');
    note.noteBatch(batchId);
    return { batch: await follow(job, batchId), placeOf, sent };
  };
  try {
    const ask = () =>
      client.send(importData, { params: { slug }, body: { rows, ...body }, headers, signal });
    return await read((await patiently(signal, ask)).body.batchId);
  } catch (error) {
    const isRefusal = error instanceof AppError && Array.isArray(error.detail.refusals);
    if (isRefusal) return read(error.detail.batchId);
    throw error;
  }
};

/** Returns the batch of an interrupted command, or opens a new one. */
const findBatch = async (job: ImportJob): Promise<string> => {
  const { client, slug, how, note, signal } = job;
  if (note.batchId !== undefined) return note.batchId;
  const headers = { 'idempotency-key': note.idempotencyKey };
  const open = () => client.send(createBatch, { params: { slug }, body: how, headers, signal });
  const { batchId } = (await patiently(signal, open)).body;
  note.noteBatch(batchId);
  return batchId;
};

const sendAll = async (job: ImportJob, chunks: AsyncIterable<RowChunk>): Promise<ImportEnd> => {
  const { client, slug, note, signal, onSent } = job;
  const batchId = await findBatch(job);
  const places: { source: string; at: Uint32Array }[] = [];
  const noting = (async function* () {
    for await (const chunk of chunks) {
      places[chunk.ordinal] = { source: chunk.source, at: chunk.places };
      yield chunk;
    }
  })();
  const placeOf: FindPlace = ({ chunk, index }) => {
    const from = chunk === null ? undefined : places[chunk];
    return from === undefined || index === null
      ? undefined
      : placeText(from.source, from.at[index]);
  };
  const target = { client, slug, batchId, note, signal, onSent };
  const sent = await sendChunks(target, noting);
  // The request has no signal, so that it is not aborted half-way. From here on the service finishes by itself, and
  // the message of an interruption says so.
  const seal = () => client.send(completeBatch, { params: { slug, batchId } });
  job.onBatch((await patiently(signal, seal)).body);
  return { batch: await follow(job, batchId), placeOf, sent };
};

const nothingSent: Sent = { chunks: 0, rows: 0, bytes: 0, sentBytes: 0 };

/** Returns the result if an interrupted command had sent the whole batch; undefined if chunks are missing. */
const findEarlier = async (job: ImportJob): Promise<ImportEnd | undefined> => {
  const { client, slug, note, signal } = job;
  if (note.batchId === undefined) return undefined;
  const params = { slug, batchId: note.batchId };
  const { body } = await client.send(getBatch, { params, signal });
  if (body.state === 'open' || body.state === 'uploading') return undefined;
  if (body.state === 'failed') await client.send(completeBatch, { params, signal });
  return { batch: await follow(job, note.batchId), placeOf: () => undefined, sent: nothingSent };
};

/** Imports the rows, or continues an interrupted import. Returns the batch in its final state. */
export const importRows = async (
  job: ImportJob,
  chunks: AsyncGenerator<RowChunk>,
): Promise<ImportEnd> => {
  const earlier = await findEarlier(job);
  if (earlier !== undefined) return earlier;
  const { few, rest } = await takeFew(chunks);
  if (few.length === 0) throw new AppError('invalid', 'there are no rows to import');
  const isFew = rest === null && job.how.publish === undefined && job.note.batchId === undefined;
  return isFew ? importFew(job, few) : sendAll(job, all(few, rest));
};
