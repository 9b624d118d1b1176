/**
 * Batches of rows: their creation, reads, sealing and cancellation. Chunks are in chunks.ts, and the jobs that process
 * batches are in import-jobs.ts.
 */
import type {
  BatchError,
  BatchState,
  ImportMode,
  PublishTime,
  RedactMode,
  Refusal,
} from '#domain/batch.ts';
import type { Digest } from '#domain/world.ts';
import { type Database, type Queryable, replannedStatement, statement } from '../core/database.ts';
import { type Count, type CountRow, countOf, type Read, toCount, toRead } from '../core/lists.ts';
import { batchBefore } from '../core/states.ts';

/** Values that a processed batch gives to a version, in addition to its rows. */
export type BatchOutcome = {
  stateDigest: string;
  snapshotBytes: number;
  treeRows: Record<string, number>;
  replaced: string[];
  /** Ids of the batches whose rows the snapshot contains, in order. This batch is the last one. */
  steps: string[];
};

export type BatchRow = {
  id: string;
  worldId: string;
  projectId: string;
  kind: 'import' | 'publish';
  state: BatchState;
  mode: ImportMode;
  redact: RedactMode;
  publish: PublishTime;
  atomic: boolean;
  dryRun: boolean;
  message: string | null;
  author: string;
  entities: string[] | null;
  expectedChunks: number | null;
  requestHash: string | null;
  isRedacted: boolean;
  createdAt: Date;
  updatedAt: Date;
  attempts: number;
  validatedChunks: number;
  appliedRows: number;
  baseVersionId: string | null;
  snapshot: Digest | null;
  entityCounts: Record<string, number> | null;
  landed: Record<string, number> | null;
  outcome: BatchOutcome | null;
  versionId: string | null;
  refused: number;
  refusals: Refusal[] | null;
  report: Digest | null;
  error: BatchError | null;
  emptiedAt: Date | null;
  chunkCount: number;
  rowCount: number;
  bytes: number;
};

/** Unique index that a second request with the same `Idempotency-Key` violates. */
export const batchKeyIndex = 'data_batches_key';

export const batchColumns = `b.id, b.world_id as "worldId", b.project_id as "projectId", b.kind, b.state, b.mode, b.redact,
  b.publish, b.atomic, b.dry_run as "dryRun", b.message, b.author, b.entities, b.expected_chunks as "expectedChunks",
  b.request_hash as "requestHash", b.is_redacted as "isRedacted", b.created_at as "createdAt", b.updated_at as "updatedAt", b.attempts,
  b.validated_chunks as "validatedChunks", b.applied_rows::float8 as "appliedRows",
  b.base_version_id as "baseVersionId", b.snapshot, b.entity_counts as "entityCounts", b.landed, b.outcome,
  b.version_id as "versionId", b.refused::float8 as refused, b.refusals, b.report,
  case when b.error_code is not null
       then json_build_object('code', b.error_code, 'message', b.error_message) end as error,
  b.emptied_at as "emptiedAt",
  (select count(*)::int from data_chunks c where c.batch_id = b.id) as "chunkCount",
  (select coalesce(sum(c.rows), 0)::float8 from data_chunks c where c.batch_id = b.id) as "rowCount",
  (select coalesce(sum(c.bytes), 0)::float8 from data_chunks c where c.batch_id = b.id) as bytes`;

export type NewBatch = Pick<
  BatchRow,
  | 'id'
  | 'worldId'
  | 'projectId'
  | 'kind'
  | 'mode'
  | 'redact'
  | 'publish'
  | 'atomic'
  | 'dryRun'
  | 'message'
  | 'author'
  | 'entities'
  | 'expectedChunks'
  | 'requestHash'
  | 'isRedacted'
> & { state: 'open' | 'queued'; idempotencyKey: string | null };

const insertStatement = statement(
  'insert_batch',
  `insert into data_batches (id, world_id, project_id, kind, state, mode, redact, publish, atomic, dry_run, message,
                             author, entities, expected_chunks, request_hash, is_redacted, idempotency_key, queued_at)
   values (:id, :worldId, :projectId, :kind, :state, :mode, :redact, :publish, :atomic, :dryRun, :message,
           :author, :entities, :expectedChunks, :requestHash, :isRedacted, :idempotencyKey,
           case when :state = 'queued' then now() end)`,
);

/** Inserts a batch. A second batch with the same `Idempotency-Key` violates `batchKeyIndex`. */
export const insertBatch = async (db: Queryable, batch: NewBatch): Promise<void> => {
  await db.query(insertStatement, batch);
};

const findStatement = statement(
  'find_batch',
  `select ${batchColumns} from data_batches b where b.world_id = $1 and b.id = $2`,
);

/** Returns a batch of a world; undefined if there is none. */
export const findBatch = async (
  db: Queryable,
  worldId: string,
  id: string,
): Promise<BatchRow | undefined> => (await db.query<BatchRow>(findStatement, [worldId, id]))[0];

const findByKeyStatement = statement(
  'find_batch_by_key',
  `select ${batchColumns} from data_batches b where b.project_id = $1 and b.idempotency_key = $2`,
);

/** Returns the batch that a request with this `Idempotency-Key` created; undefined if there is none. */
export const findBatchByKey = async (
  db: Queryable,
  projectId: string,
  key: string,
): Promise<BatchRow | undefined> =>
  (await db.query<BatchRow>(findByKeyStatement, [projectId, key]))[0];

const lockStatement = statement(
  'lock_batch',
  'select state from data_batches where world_id = $1 and id = $2 for update',
);

/**
 * Locks a batch until the transaction ends and returns its state. Returns undefined if the world has no batch with this
 * id.
 */
export const lockBatch = async (
  tx: Queryable,
  worldId: string,
  id: string,
): Promise<BatchState | undefined> =>
  (await tx.query<{ state: BatchState }>(lockStatement, [worldId, id]))[0]?.state;

const uploadingStatement = statement(
  'batch_uploading',
  `update data_batches set state = 'uploading', updated_at = now()
    where id = $1 and state in ${batchBefore('uploading')}`,
);

/** Records that a batch has at least one chunk. */
export const markUploading = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(uploadingStatement, [id]);
};

const sealStatement = statement(
  'seal_batch',
  `update data_batches set state = 'queued', queued_at = now(), updated_at = now(), ended_at = null, attempts = 0,
          validated_chunks = 0, applied_rows = 0, error_code = null, error_message = null
    where id = $1 and state in ${batchBefore('queued')}`,
);

/** Queues a batch to be processed by an import job. */
export const sealBatch = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(sealStatement, [id]);
};

// Batches that were applied after it hold its rows in their snapshots, so they are rebuilt when they are published.
const cancelStatement = statement(
  'cancel_batch',
  `with gone as (
     update data_batches b set state = 'failed', error_code = 'cancelled', error_message = :message,
            updated_at = now(), ended_at = now(), lease_owner = null, lease_until = null
      where b.id = :id and b.world_id = :worldId and b.kind = 'import' and b.state in ${batchBefore('failed')}
        and not (b.state = 'applied' and b.dry_run)
     returning b.id, b.world_id
   ), later as (
     update data_batches l set base_version_id = null from gone
      where l.world_id = gone.world_id and l.state = 'applied' and l.publish = 'later' and l.id <> gone.id
   ), let_go as (
     update uploads u set began_at = '-infinity', bytes = 0 from gone where u.id = 'rows-' || gone.id
   )
   select id from gone`,
);

/** Cancels a batch, even if a worker is processing it. Returns false if the batch has already ended. */
export const cancelBatch = async (
  db: Queryable,
  batch: { id: string; worldId: string; message: string },
): Promise<boolean> => (await db.query(cancelStatement, batch)).length > 0;

const pendingStatement = statement(
  'pending_batches',
  `select ${batchColumns} from data_batches b
    where b.world_id = $1 and b.kind = 'import' and b.state = 'applied' and b.publish = 'later' and not b.dry_run
    order by b.ended_at, b.id`,
);

/** Lists the batches of a world that wait to be published, in the order in which they were applied. */
export const listPending = (db: Queryable, worldId: string): Promise<BatchRow[]> =>
  db.query<BatchRow>(pendingStatement, [worldId]);

const foldedStatement = statement(
  'folded_batches',
  `select id from data_batches
    where world_id = $1 and version_id = $2 and kind = 'import' order by ended_at, id`,
);

/** Lists the batches of a world whose rows were added in a version. */
export const listFolded = async (
  db: Queryable,
  worldId: string,
  versionId: string | null,
): Promise<string[]> =>
  (await db.query<{ id: string }>(foldedStatement, [worldId, versionId])).map(({ id }) => id);

/** Cursor into the list: the page starts after this batch and continues with older batches. */
export type BatchPosition = { createdAt: Date; id: string };

const listStatement = replannedStatement(
  'list_batches',
  `select ${batchColumns} from data_batches b
    where b.world_id = :worldId and b.kind = 'import'
      and (date_trunc('milliseconds', b.created_at), b.id) < (:at::timestamptz, :afterId::text)
    order by date_trunc('milliseconds', b.created_at) desc, b.id desc limit :limit offset :offset`,
);

const countStatement = countOf({
  name: 'count_batches',
  from: `data_batches b where b.world_id = :worldId and b.kind = 'import'`,
  order: 'b.created_at desc, b.id desc',
  matching: 'true',
  isAll: 'true',
});

/** Lists a page of the batches of a world, newest first. */
export const listBatches = async (
  db: Queryable,
  worldId: string,
  page: { limit: number; offset: number; from: BatchPosition | undefined },
): Promise<Read<BatchRow> & { count: Count }> => {
  const { createdAt: at = 'infinity', id: afterId = '' } = page.from ?? {};
  const { limit, offset } = page;
  const [rows, [counted]] = await Promise.all([
    db.query<BatchRow>(listStatement, { worldId, at, afterId, limit: limit + 1, offset }),
    db.query<CountRow>(countStatement, { worldId }),
  ]);
  return { ...toRead(rows, limit), count: toCount(counted) };
};

/**
 * Number of days for which the bytes of an ended batch are stored, so that a client can retry the batch. If a batch is
 * redacted, its unredacted bytes are released at once, unless the batch failed. A batch for which nothing is uploaded
 * is abandoned after the same time.
 */
const keptDays = 7;
/** Maximum number of batches that one statement handles. */
const lookedAtOnce = 20;

const abandonStatement = statement(
  'abandon_batches',
  `update data_batches b
      set state = 'failed', error_code = 'abandoned', updated_at = now(), ended_at = now(),
          error_message = 'nothing was sent for ${keptDays} days: open a new batch'
    where b.id in (select id from data_batches
                    where state in ('open', 'uploading') and updated_at < now() - interval '${keptDays} days'
                    limit ${lookedAtOnce} for update skip locked)`,
);

const spentStatement = statement(
  'find_spent_batches',
  `select b.id from data_batches b
    where b.emptied_at is null and b.state in ('applied', 'refused', 'published', 'failed')
      and not (b.state = 'applied' and b.publish = 'later' and not b.dry_run and (b.redact = 'off' or b.is_redacted))
      and (b.redact <> 'off' and b.state <> 'failed' or b.error_code = 'cancelled'
           or b.updated_at < now() - interval '${keptDays} days')
    limit ${lookedAtOnce}`,
);

/**
 * Returns ended batches whose chunks are no longer needed. Before that, marks batches for which nothing was uploaded as
 * abandoned.
 */
export const findSpentBatches = async (db: Queryable): Promise<string[]> => {
  await db.query(abandonStatement, []);
  return (await db.query<{ id: string }>(spentStatement, [])).map(({ id }) => id);
};

// Everything that is stored about the rows is dropped with them.
const deletedStatement = statement(
  'drop_data_of_deleted_worlds',
  `with gone as (
     update data_batches b
        set state = case when b.state in ('refused', 'published') then b.state else 'failed' end,
            report = null, refusals = null, snapshot = null, base_version_id = null,
            error_code = coalesce(b.error_code, case when b.state not in ('refused', 'published')
                                                     then 'not_found' end),
            error_message = coalesce(b.error_message, case when b.state not in ('refused', 'published')
                                                           then 'the world was deleted' end),
            updated_at = now() - interval '${keptDays + 1} days'
      where b.id in (select d.id from data_batches d join worlds w on w.id = d.world_id
                      where w.deleted_at is not null and d.state not in ('validating', 'applying')
                        and (d.report is not null or d.refusals is not null or d.snapshot is not null
                             or d.emptied_at is null)
                        and (d.emptied_at is not null or d.updated_at > now() - interval '${keptDays} days')
                      limit ${lookedAtOnce} for update of d skip locked)
     returning b.id
   )
   update uploads set began_at = '-infinity', bytes = 0
    where id in (select 'rows-' || id from gone union all select 'report-' || id from gone)`,
);

/** Releases everything that is stored about rows for deleted worlds. */
export const dropOfDeletedWorlds = async (db: Queryable): Promise<void> => {
  await db.query(deletedStatement, []);
};

const emptyStatement = statement(
  'empty_batch',
  `with emptied as (
     update data_batches set emptied_at = now()
      where id = $1 and emptied_at is null and state in ('applied', 'refused', 'published', 'failed')
     returning id
   ), chunks as (
     update data_chunks c set uploaded_at = null, received_at = null from emptied where c.batch_id = emptied.id
     returning c.id
   ), let_go as (
     update uploads u set began_at = '-infinity', bytes = 0 from chunks where u.id = chunks.id
   )
   select id from chunks`,
);

/**
 * Releases the bytes of an ended batch; they are garbage-collected like those of dead uploads. Returns the ids of the
 * chunks.
 */
export const emptyBatch = (db: Database, id: string): Promise<string[]> =>
  db.transaction(async (tx) =>
    (await tx.query<{ id: string }>(emptyStatement, [id])).map((chunk) => chunk.id),
  );
