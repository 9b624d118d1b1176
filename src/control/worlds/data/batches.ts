/** Batches of rows, which clients open, seal and cancel. An archived world accepts no batch. */
import { clip } from '#domain/cut.ts';
import { AppError, type FieldProblem } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { suggestName } from '#language/read/suggest.ts';
import { redactionLack } from '#language/redaction-modes.ts';
import type { CreateBatchBody } from '#wire/public-api/worlds/data.ts';
import type { Queryable } from '../../db/core/database.ts';
import { violates } from '../../db/core/errors.ts';
import {
  type BatchRow,
  batchKeyIndex,
  cancelBatch,
  findBatch,
  findBatchByKey,
  insertBatch,
  lockBatch,
  type NewBatch,
  sealBatch,
} from '../../db/worlds/batches.ts';
import { listChunks } from '../../db/worlds/chunks.ts';
import type { WorldRow } from '../../db/worlds/worlds.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';
import { checkInUse, getVersionOf, getWorld } from '../versions/address.ts';
import type { Creator } from '../versions/create.ts';
import { importsTopic } from './imports.ts';

/** Settings that determine how the rows of a batch or an import are applied. Null means absent. */
export type How = Pick<
  CreateBatchBody,
  'mode' | 'merge' | 'redact' | 'atomic' | 'dryRun' | 'message'
>;

/** Maximum number of characters that a message quotes from a name of the client. */
const shownChars = 200;

const field = (name: string, message: string): FieldProblem => ({ path: [name], message });

const refuse = (fields: FieldProblem[]): void => {
  const [first] = fields;
  if (first !== undefined) throw new AppError('invalid', first.message, { fields });
};

const findFaults = (
  { mode, merge, redact }: How,
  entities: readonly string[],
  { contract }: Version,
): FieldProblem[] => {
  const known = contract.entities.map(({ name }) => name);
  const isHidden = (redact ?? 'off') !== 'off';
  const unknown = entities
    .filter((entity) => !known.includes(entity))
    .map((entity) =>
      field(
        'entities',
        isHidden
          ? `the world has no entity of a name that is given, which is not repeated; it has ${known.join(', ')}`
          : `the world has no entity "${clip(entity, shownChars)}"; ${suggestName(entity, known) ?? 'it has none'}`,
      ),
    );
  const twice = merge === true && typeof mode === 'string' && mode !== 'merge';
  const lack = redactionLack(contract, redact ?? 'off');
  return [
    ...unknown,
    ...(twice
      ? [field('merge', `is true although the mode is "${mode}": give only one of the two`)]
      : []),
    ...(lack === undefined ? [] : [field('redact', lack)]),
  ];
};

/** Returns the columns of a batch that hold its settings. */
export const settingsOf = (how: How) => ({
  mode: how.mode ?? (how.merge === true ? ('merge' as const) : ('append' as const)),
  redact: how.redact ?? ('off' as const),
  atomic: how.atomic ?? true,
  dryRun: how.dryRun ?? false,
  message: how.message ?? null,
});

/**
 * Returns the world into which rows are imported, with its head. Throws `invalid` if the settings or the entities do
 * not fit the world.
 */
export const findTarget = async (
  parts: WorldParts,
  projectId: string,
  slug: string,
  asked: { how: How; entities: readonly string[] } | null,
): Promise<{ world: WorldRow; head: Version }> => {
  const world = await getWorld(parts, projectId, slug);
  checkInUse(world);
  const head = await getVersionOf(parts, world, 'latest');
  if (asked !== null) refuse(findFaults(asked.how, asked.entities, head));
  return { world, head };
};

/**
 * `Idempotency-Key` of a request (undefined if it has none), and the hash of everything that a repeated request must
 * not change.
 */
export type Keyed = { idempotencyKey: string | undefined; hash: string | null };

/**
 * Returns the batch that an earlier request with the same `Idempotency-Key` created. Throws `conflict` if the body of
 * that request differed.
 */
export const findFirst = async (
  { db }: WorldParts,
  { id: worldId, projectId }: { id: string; projectId: string },
  { idempotencyKey, hash }: Keyed,
): Promise<BatchRow | undefined> => {
  if (idempotencyKey === undefined) return undefined;
  const batch = await findBatchByKey(db, projectId, idempotencyKey);
  if (batch === undefined) return undefined;
  if (batch.requestHash === hash && batch.worldId === worldId) return batch;
  const other = batch.worldId === worldId ? 'with another body' : 'in another world';
  throw new AppError('conflict', `this Idempotency-Key made ${batch.id} ${other}`);
};

/** Returns a batch of a world. Throws `not_found` if the world has no such batch. */
export const getBatch = async (
  parts: WorldParts,
  world: WorldRow,
  id: string,
): Promise<BatchRow> => {
  const batch = id.includes('\0') ? undefined : await findBatch(parts.db, world.id, id);
  if (batch !== undefined) return batch;
  throw new AppError('not_found', `the world "${world.slug}" has no batch ${id}`);
};

/**
 * Writes a batch with `write`. If a concurrent request with the same `Idempotency-Key` was faster, returns the batch of
 * that request.
 */
export const writeOnce = async (
  parts: WorldParts,
  world: { id: string; projectId: string },
  keyed: Keyed,
  write: () => Promise<void>,
): Promise<BatchRow | undefined> => {
  try {
    await write();
    return undefined;
  } catch (error) {
    if (!violates(error, batchKeyIndex)) throw error;
    return findFirst(parts, world, keyed);
  }
};

/** Builds the row of a new batch. */
export const newBatch = (
  { creator, world, how }: { creator: Creator; world: WorldRow; how: How },
  { idempotencyKey, hash }: Keyed,
): Omit<NewBatch, 'state'> => ({
  ...settingsOf(how),
  id: newId('bat'),
  worldId: world.id,
  projectId: creator.projectId,
  kind: 'import',
  publish: 'now',
  author: creator.publicKey,
  entities: null,
  expectedChunks: null,
  requestHash: hash,
  isRedacted: false,
  idempotencyKey: idempotencyKey ?? null,
});

/** Opens a batch. If an earlier request with the same `Idempotency-Key` opened one, returns that batch. */
export const openBatch = async (
  parts: WorldParts,
  creator: Creator,
  slug: string,
  body: CreateBatchBody & { hash: string | null },
  idempotencyKey: string | undefined,
): Promise<BatchRow> => {
  const keyed = { idempotencyKey, hash: body.hash };
  const { projectId } = creator;
  // A repeated request gets the answer of the first, whatever has become of the world since.
  const { id: worldId } = await getWorld(parts, projectId, slug);
  const first = await findFirst(parts, { id: worldId, projectId }, keyed);
  if (first !== undefined) return first;
  const entities = body.entities ?? null;
  const asked = { how: body, entities: entities ?? [] };
  const { world } = await findTarget(parts, projectId, slug, asked);
  const batch: NewBatch = {
    ...newBatch({ creator, world, how: body }, keyed),
    state: 'open',
    publish: body.publish ?? 'now',
    entities,
    expectedChunks: body.expectedChunks ?? null,
  };
  const other = await writeOnce(parts, { id: world.id, projectId }, keyed, () =>
    insertBatch(parts.db, batch),
  );
  return other ?? getBatch(parts, world, batch.id);
};

const incomplete = (message: string, detail: Record<string, unknown>): AppError =>
  new AppError('conflict', message, { detail });

/** Throws `conflict` unless all chunks of the batch are registered and confirmed. */
const checkWhole = async (tx: Queryable, batch: BatchRow): Promise<void> => {
  const chunks = await listChunks(tx, batch.id);
  const unconfirmed = chunks.filter(({ uploaded }) => !uploaded).map(({ ordinal }) => ordinal);
  if (unconfirmed.length > 0) {
    const first = unconfirmed.slice(0, 20).join(', ');
    const way =
      batch.emptiedAt === null
        ? 'send and confirm them first'
        : 'their bytes were discarded; open a new batch';
    const message = `${unconfirmed.length} chunks are not confirmed (${first}${unconfirmed.length > 20 ? ', …' : ''}): ${way}`;
    throw incomplete(message, { unconfirmed: unconfirmed.slice(0, 1_000) });
  }
  const { expectedChunks } = batch;
  if (expectedChunks !== null && chunks.length !== expectedChunks) {
    const message = `the batch has ${chunks.length} chunks, but ${expectedChunks} are expected`;
    throw incomplete(message, { chunks: chunks.length, expectedChunks });
  }
  // A batch that replaces entities and has no chunks removes all rows of the entities.
  const empties = batch.mode === 'replace' && (batch.entities ?? []).length > 0;
  if (chunks.length === 0 && !empties) {
    throw incomplete('the batch has no chunks: register one first', { chunks: 0 });
  }
};

/** Seals a batch; a job then applies it. A batch that is already sealed stays unchanged. */
export const completeBatch = async (
  parts: WorldParts,
  projectId: string,
  { slug, batchId }: { slug: string; batchId: string },
): Promise<BatchRow> => {
  const { world } = await findTarget(parts, projectId, slug, null);
  const batch = await getBatch(parts, world, batchId);
  const sealed = await parts.db.transaction(async (tx) => {
    const state = await lockBatch(tx, world.id, batch.id);
    if (state === 'refused') {
      throw new AppError(
        'conflict',
        `${batch.id} was refused: correct the rows and send them in a new batch`,
      );
    }
    if (state === 'open' || state === 'uploading' || state === 'failed') {
      await checkWhole(tx, batch);
      await sealBatch(tx, batch.id);
    }
    // Read within the transaction, before a job can claim the batch, so that the client sees it as queued.
    return findBatch(tx, world.id, batch.id);
  });
  parts.notifications.notify(importsTopic, batch.id);
  return sealed ?? getBatch(parts, world, batch.id);
};

/** Cancels a batch, even while a job applies it. Throws `conflict` if the batch was refused or published. */
export const cancelBatchOfWorld = async (
  parts: WorldParts,
  creator: Creator,
  { slug, batchId }: { slug: string; batchId: string },
): Promise<BatchRow> => {
  const world = await getWorld(parts, creator.projectId, slug);
  const batch = await getBatch(parts, world, batchId);
  const message = `cancelled by ${creator.publicKey}`;
  if (!(await cancelBatch(parts.db, { id: batch.id, worldId: world.id, message }))) {
    const { state } = await getBatch(parts, world, batchId);
    if (state !== 'failed') {
      throw new AppError('conflict', `${batch.id} is ${state}, and can no longer be cancelled`);
    }
  }
  parts.notifications.notify(batch.id);
  return getBatch(parts, world, batch.id);
};
