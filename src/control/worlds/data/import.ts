/**
 * Imports the rows of one request, as a batch with one chunk. The request waits until the batch ends or the time is up.
 * With the redaction modes `apply` and `refuse`, rows are checked against the policy and the contract before they are
 * stored for the first time.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import type { KeptImport } from '../../base/bodies/keep.ts';
import { type BatchRow, insertBatch, listPending, sealBatch } from '../../db/worlds/batches.ts';
import { confirmChunk } from '../../db/worlds/chunks.ts';
import type { WorldRow } from '../../db/worlds/worlds.ts';
import { digestOf } from '../../platform/blobs/blobs.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';
import { getWorld } from '../versions/address.ts';
import type { Creator } from '../versions/create.ts';
import { findFirst, findTarget, getBatch, newBatch, settingsOf, writeOnce } from './batches.ts';
import { addChunk } from './chunks.ts';
import { importsTopic } from './imports.ts';

/** Maximum time for which the request of an import is held, in milliseconds. */
const holdMs = 55_000;
/** Interval at which the batch is read again in case a notification was lost, in milliseconds. */
const lookEveryMs = 2_000;

const isOver = ({ state }: BatchRow): boolean =>
  ['applied', 'refused', 'published', 'failed'].includes(state);

/**
 * Waits for the end of a batch. If the time is up or the client has disconnected, returns the batch in its current
 * state.
 */
export const followBatch = async (
  parts: WorldParts,
  world: WorldRow,
  id: string,
  signal: AbortSignal,
): Promise<BatchRow> => {
  const watch = parts.notifications.watch(id);
  const endsAt = performance.now() + holdMs;
  try {
    for (;;) {
      const batch = await getBatch(parts, world, id);
      const leftMs = endsAt - performance.now();
      if (isOver(batch) || leftMs <= 0 || signal.aborted || parts.notifications.closed)
        return batch;
      await watch.next(Math.min(leftMs, lookEveryMs), signal);
    }
  } finally {
    watch.end();
  }
};

type Import = {
  creator: Creator;
  slug: string;
  body: KeptImport;
  idempotencyKey: string | undefined;
  signal: AbortSignal;
};

const pack = async (parts: WorldParts, { creator, body, signal }: Import, { bundle }: Version) => {
  const { mode: how, redact: mode } = settingsOf(body);
  const { projectId: project } = creator;
  const world = { digest: bundle, project };
  const redaction = mode === 'off' ? null : { world, mode, isMerge: how === 'merge' };
  const packed = await parts.compiler.run(
    { kind: 'pack-rows', rowsJson: body.rowsJson, redaction },
    { project, signal, supply: () => parts.blobs.get(bundle) },
  );
  if (packed.ok) return packed;
  throw new AppError('timeout', 'the rows take too long to parse: send them in a batch');
};

const isUnsealed = ({ state }: BatchRow): boolean => state === 'open' || state === 'uploading';

/** Stores the rows in an open batch, and seals the batch so that a job applies it. */
const sealWith = async (
  parts: WorldParts,
  batch: BatchRow,
  packed: Awaited<ReturnType<typeof pack>>,
  { entities }: Import['body'],
): Promise<void> => {
  const digest = digestOf(packed.chunk);
  const { byteLength: bytes } = packed.chunk;
  const entity = entities.length === 1 ? (entities[0] ?? null) : null;
  const sent = { ordinal: 0, digest, bytes, rows: packed.rows, entity };
  const chunk = await addChunk(parts, batch, sent);
  await parts.blobs.put(packed.chunk);
  if (!chunk.uploaded && !(await confirmChunk(parts.db, chunk.id, digest))) {
    throw new AppError('unavailable', 'the rows were not stored: send them again');
  }
  await sealBatch(parts.db, batch.id);
  parts.notifications.notify(importsTopic);
};

const store = async (
  parts: WorldParts,
  wanted: Import,
  { world, head }: { world: WorldRow; head: Version },
  begun: BatchRow | undefined,
) => {
  const { creator, body, idempotencyKey } = wanted;
  const packed = await pack(parts, wanted, head);
  const keyed = { idempotencyKey, hash: body.hash };
  const batch = {
    ...newBatch({ creator, world, how: body }, keyed),
    state: 'open' as const,
    entities: body.entities,
    isRedacted: settingsOf(body).redact !== 'off',
  };
  // A request that broke off before its rows were sealed continues when it is repeated with the same rows.
  const other =
    begun ??
    (await writeOnce(parts, { id: world.id, projectId: creator.projectId }, keyed, () =>
      insertBatch(parts.db, batch),
    ));
  if (other !== undefined && !isUnsealed(other)) return other;
  const opened = other ?? (await getBatch(parts, world, batch.id));
  try {
    await sealWith(parts, opened, packed, body);
  } catch (error) {
    // A concurrent identical request may have been faster.
    const now = await getBatch(parts, world, opened.id);
    if (isUnsealed(now)) throw error;
  }
  return opened;
};

/** Imports rows. Returns the batch once it has ended, or its state after 55 s. */
export const importRows = async (
  parts: WorldParts,
  wanted: Import,
): Promise<{ world: WorldRow; batch: BatchRow }> => {
  const { creator, slug, body, idempotencyKey, signal } = wanted;
  const asked = { how: body, entities: body.entities };
  const { projectId } = creator;
  const known = await getWorld(parts, projectId, slug);
  const keyed = { idempotencyKey, hash: body.hash };
  const first = await findFirst(parts, { id: known.id, projectId }, keyed);
  if (first !== undefined && !isUnsealed(first)) {
    return { world: known, batch: await followBatch(parts, known, first.id, signal) };
  }
  const target = await findTarget(parts, projectId, slug, asked);
  const batch = await store(parts, wanted, target, first);
  return { world: target.world, batch: await followBatch(parts, target.world, batch.id, signal) };
};

/**
 * Publishes the batches that wait to be published. Returns the batch of the publish once it has ended, or its state
 * after 55 s.
 */
export const publishRows = async (
  parts: WorldParts,
  {
    creator,
    slug,
    message,
    idempotencyKey,
    signal,
  }: Omit<Import, 'body'> & { message: string | null },
): Promise<{ world: WorldRow; batch: BatchRow }> => {
  const { world } = await findTarget(parts, creator.projectId, slug, null);
  const keyed = { idempotencyKey, hash: JSON.stringify([world.id, message]) };
  const own = { id: world.id, projectId: creator.projectId };
  const first = await findFirst(parts, own, keyed);
  if (first !== undefined) {
    return { world, batch: await followBatch(parts, world, first.id, signal) };
  }
  if ((await listPending(parts.db, world.id)).length === 0) {
    throw new AppError(
      'conflict',
      `no batch of "${slug}" waits to be published: open one with "publish": "later", and complete it`,
    );
  }
  const batch = {
    ...newBatch({ creator, world, how: { message } }, keyed),
    kind: 'publish' as const,
    state: 'queued' as const,
  };
  const other = await writeOnce(parts, own, keyed, () => insertBatch(parts.db, batch));
  parts.notifications.notify(importsTopic);
  const { id } = other ?? batch;
  return { world, batch: await followBatch(parts, world, id, signal) };
};

type Refusal = NonNullable<BatchRow['refusals']>[number];

/** Returns the path of a refused row in the request. The chunk contains the rows of all entities one after another. */
const fieldOf = (
  { entity, index, pointer, detail }: Refusal,
  entities: readonly string[],
  rowCounts: readonly number[],
): FieldProblem => {
  const at = entity === null ? -1 : entities.indexOf(entity);
  const before = rowCounts.slice(0, Math.max(at, 0)).reduce((sum, rows) => sum + rows, 0);
  const place = at === -1 || index === null ? [] : [entity ?? '', String(index - before)];
  return { path: ['rows', ...place, ...parsePointer(pointer ?? '')], message: detail };
};

/** Returns the error of an import that was refused or has failed; undefined for any other import. */
export const errorOf = (
  batch: BatchRow,
  rowCounts: readonly number[],
  { reportUrl = null, ...more }: { reportUrl?: string | null },
): AppError | undefined => {
  if (batch.state === 'refused') {
    const fields = (batch.refusals ?? [])
      .slice(0, 50)
      .map((refusal) => fieldOf(refusal, batch.entities ?? [], rowCounts));
    const message = `${batch.refused} rows were refused, and nothing was written: ${fields[0]?.message ?? ''}`;
    const given = reportUrl === null ? {} : { reportUrl };
    const detail = { batchId: batch.id, ...more, ...(reportUrl === null ? { reportUrl } : {}) };
    return new AppError('invalid', message, { fields, detail, given });
  }
  if (batch.state !== 'failed' || batch.error === null) return undefined;
  const codes = ['conflict', 'exhausted', 'not_found', 'invalid'] as const;
  const code = codes.find((one) => one === batch.error?.code) ?? 'unavailable';
  return new AppError(code, batch.error.message, {
    detail: { batchId: batch.id, reason: batch.error.code },
  });
};
