/** Endpoints that write rows into worlds: imports, batches with their chunks, and publishes. */
import { isId } from '#domain/id.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  type BatchPosition,
  type BatchRow,
  listBatches,
  listFolded,
} from '../../../db/worlds/batches.ts';
import type { WorldRow } from '../../../db/worlds/worlds.ts';
import type { Parts } from '../../../parts.ts';
import {
  cancelBatchOfWorld,
  completeBatch,
  getBatch,
  openBatch,
} from '../../../worlds/data/batches.ts';
import { confirmChunk, registerChunk } from '../../../worlds/data/chunks.ts';
import { errorOf, importRows, publishRows } from '../../../worlds/data/import.ts';
import {
  limitsBlock,
  viewBatch,
  viewChunk,
  viewListedBatch,
  viewRefused,
} from '../../../worlds/data/view-batch.ts';
import { getVersionOf, getWorld } from '../../../worlds/versions/address.ts';
import { viewVersion } from '../../../worlds/versions/view-version.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { type CursorForm, isWhole, openPage } from '../../server/paging.ts';

/** Largest distance from 1970 that both a JavaScript and a PostgreSQL date can hold, in milliseconds. */
const mostMs = 8.64e15;

const newestFirst: CursorForm<BatchPosition> = {
  write: ({ createdAt, id }) => [createdAt.getTime(), id],
  read: ([ms, id]) =>
    isWhole(ms) && Math.abs(ms) <= mostMs && typeof id === 'string' && isId('bat', id)
      ? { createdAt: new Date(ms), id }
      : undefined,
};

const running = ({ id, state, rowCount }: BatchRow) => ({ batchId: id, state, rowCount });

const viewVersionMade = async (parts: Parts, world: WorldRow, batch: BatchRow) =>
  viewVersion(await getVersionOf(parts, world, batch.versionId ?? ''));

export const dataEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.importData, async ({ params, headers, body }, { caller, signal }) => {
    const idempotencyKey = headers['idempotency-key'];
    const wanted = { creator: caller, slug: params.slug, body, idempotencyKey, signal };
    const { world, batch } = await importRows(parts, wanted);
    if (batch.dryRun && (batch.state === 'applied' || batch.state === 'refused')) {
      return respond(200, await viewBatch(parts.addresses, batch));
    }
    const refused = await viewRefused(parts.addresses, batch);
    const error = errorOf(batch, body.rowCounts, refused);
    if (error !== undefined) throw error;
    if (batch.state !== 'published') return respond(202, running(batch));
    const version = await viewVersionMade(parts, world, batch);
    return respond(201, { ...running(batch), ...refused, version, landed: batch.landed });
  }),

  endpoint(api.publishData, async ({ params, headers, body }, { caller, signal }) => {
    const wanted = {
      creator: caller,
      slug: params.slug,
      message: body?.message ?? null,
      idempotencyKey: headers['idempotency-key'],
      signal,
    };
    const { world, batch } = await publishRows(parts, wanted);
    const error = errorOf(batch, [], {});
    if (error !== undefined) throw error;
    if (batch.state !== 'published') return respond(202, running(batch));
    const [version, folded] = await Promise.all([
      viewVersionMade(parts, world, batch),
      listFolded(parts.db, world.id, batch.versionId),
    ]);
    return respond(201, { batchId: batch.id, state: batch.state, batches: folded, version });
  }),

  endpoint(api.createBatch, async ({ params, headers, body }, { caller }) => {
    const key = headers['idempotency-key'];
    const { id, state } = await openBatch(parts, caller, params.slug, body, key);
    return respond(201, { batchId: id, state, limits: limitsBlock });
  }),

  endpoint(api.listBatches, async ({ params, query }, { caller: { projectId } }) => {
    const world = await getWorld(parts, projectId, params.slug);
    const { range, metaOf } = openPage(query, newestFirst);
    const read = await listBatches(parts.db, world.id, range);
    return respond(200, { data: read.rows.map(viewListedBatch), meta: metaOf(read) });
  }),

  endpoint(api.getBatch, async ({ params }, { caller: { projectId } }) => {
    const world = await getWorld(parts, projectId, params.slug);
    const batch = await getBatch(parts, world, params.batchId);
    return respond(200, await viewBatch(parts.addresses, batch));
  }),

  endpoint(api.cancelBatch, async ({ params }, { caller }) =>
    respond(200, await viewBatch(parts.addresses, await cancelBatchOfWorld(parts, caller, params))),
  ),

  endpoint(api.registerChunk, async ({ params, body }, { caller: { projectId } }) => {
    const chunk = await registerChunk(parts, projectId, params, body);
    return respond(200, await viewChunk(parts.addresses, chunk));
  }),

  endpoint(api.confirmChunk, async ({ params }, { caller: { projectId } }) => {
    const chunk = await confirmChunk(parts, projectId, params);
    return respond(200, await viewChunk(parts.addresses, chunk));
  }),

  endpoint(api.completeBatch, async ({ params }, { caller: { projectId } }) => {
    const batch = await completeBatch(parts, projectId, params);
    return respond(202, await viewBatch(parts.addresses, batch));
  }),
];
