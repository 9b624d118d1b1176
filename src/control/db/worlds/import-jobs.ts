/**
 * Import jobs, which process batches. A claim is one conditional statement. It takes the batch that has waited longest,
 * from the project with the fewest running jobs, among worlds without a running job. It also takes a batch whose lease
 * has expired, because the worker of that batch is gone. Each write of a worker is conditional on the worker's lease.
 * So a slow or disconnected worker changes nothing.
 */
import { randomUUID } from 'node:crypto';
import type { BatchError, Refusal } from '#domain/batch.ts';
import type { Digest } from '#domain/world.ts';
import type { AdminImport } from '#wire/admin-api/operations.ts';
import type { VersionChanges } from '#wire/public-api/worlds/version.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { violates } from '../core/errors.ts';
import { keysOf } from '../core/parameters.ts';
import { batchBefore } from '../core/states.ts';
import { projectPath } from '../projects/keys.ts';
import { finishUpload } from '../projects/uploads.ts';
import type { BatchOutcome, BatchRow } from './batches.ts';
import { batchColumns } from './batches.ts';
import { nextNumber } from './worlds.ts';

/** Duration of a lease in seconds, counted from its last renewal. */
export const leaseSeconds = 10;
const lease = `now() + interval '${leaseSeconds} seconds'`;

const running = `('validating', 'applying')`;
/** Unique index that a second running job of the same world violates. */
const runningIndex = 'data_batches_running';

const claimStatement = statement(
  'claim_batch',
  `with next as (
     select b.id from data_batches b
      where b.state in ${running} and b.lease_until < now()
         or b.state = 'queued' and not exists (
              select from data_batches o where o.world_id = b.world_id and o.state in ${running})
      order by (select count(*) from data_batches r
                 where r.project_id = b.project_id and r.state in ${running} and r.lease_until >= now()),
               b.queued_at, b.id
      limit 1 for update of b skip locked
   ), claimed as (
     update data_batches b
        set state = 'validating', lease_owner = $1, lease_until = ${lease}, attempts = b.attempts + 1,
            validated_chunks = 0, applied_rows = 0, updated_at = now()
       from next where b.id = next.id
     returning b.*
   )
   select ${batchColumns} from claimed b`,
);

/** Batch that was claimed, with the token that identifies the owner of the lease. */
export type ClaimedBatch = BatchRow & { owner: string };

/** Claims the next batch. Returns undefined if there is none, or another worker claimed it first. */
export const claimBatch = async (db: Queryable): Promise<ClaimedBatch | undefined> => {
  const owner = randomUUID();
  try {
    const [row] = await db.query<BatchRow>(claimStatement, [owner]);
    return row === undefined ? undefined : { ...row, owner };
  } catch (error) {
    if (violates(error, runningIndex)) return undefined;
    throw error;
  }
};

type Held = Pick<ClaimedBatch, 'id' | 'owner'>;

const overStatement = statement(
  'find_attempts_that_are_over',
  `select given.id, given.owner from ${keysOf('$1::text[], $2::text[]')} as given(id, owner)
     join data_batches b on b.id = given.id where b.lease_owner is distinct from given.owner`,
);

/**
 * Returns those attempts whose batch has ended or is now claimed by another worker. Attempts at unknown batches are
 * left out.
 */
export const findAttemptsOver = (db: Queryable, attempts: readonly Held[]): Promise<Held[]> =>
  db.query<Held>(overStatement, [attempts.map(({ id }) => id), attempts.map(({ owner }) => owner)]);

export type JobProgress = {
  phase: 'validating' | 'applying';
  validatedChunks: number;
  appliedRows: number;
};

const renewStatement = statement(
  'renew_batch',
  `update data_batches set state = :phase, validated_chunks = :validatedChunks, applied_rows = :appliedRows::bigint,
          lease_until = ${lease}, updated_at = now()
    where id = :id and lease_owner = :owner and state in ${running} returning id`,
);

/**
 * Renews a lease and records the progress. Returns false if the batch was cancelled or is now claimed by another
 * worker.
 */
export const renewBatch = async (
  db: Queryable,
  { id, owner }: Held,
  progress: JobProgress,
): Promise<boolean> => (await db.query(renewStatement, { ...progress, id, owner })).length > 0;

const releaseStatement = statement(
  'release_batch',
  `update data_batches set lease_until = now() + make_interval(secs => $2 / 1000.0) where lease_owner = $1 and state in ${running}`,
);

/** Releases a batch. It can be claimed again after `afterMs` milliseconds. */
export const releaseBatch = async (
  db: Queryable,
  owner: string,
  afterMs: number,
): Promise<void> => {
  await db.query(releaseStatement, [owner, afterMs]);
};

const ended = `updated_at = now(), ended_at = now(), lease_owner = null, lease_until = null`;
const own = (to: 'failed' | 'refused' | 'applied' | 'published'): string =>
  `id = :id and lease_owner = :owner and state in ${running} and state in ${batchBefore(to)}`;

const failStatement = statement(
  'fail_batch',
  `update data_batches set state = 'failed', error_code = :code, error_message = :message, ${ended}
    where ${own('failed')} returning id`,
);

/** Ends a batch that cannot be processed. */
export const failBatch = async (
  db: Queryable,
  { id, owner }: Held,
  { code, message }: BatchError,
): Promise<boolean> => (await db.query(failStatement, { id, owner, code, message })).length > 0;

/** Refused rows: their number, the first refusals, and the blob with all refusals (null if there is none). */
export type Refused = { refused: number; refusals: Refusal[]; report: Digest | null };

const refusalValues = ({ refused, refusals, report }: Refused) => ({
  refused,
  refusals: JSON.stringify(refusals),
  report,
});

const refuseStatement = statement(
  'refuse_batch',
  `update data_batches set state = 'refused', refused = :refused::bigint, refusals = :refusals, report = :report, ${ended}
    where ${own('refused')} returning id`,
);

/** Ends a batch of which rows were refused. None of its rows is applied. */
export const refuseBatch = async (
  db: Queryable,
  { id, owner }: Held,
  refused: Refused,
): Promise<boolean> =>
  (await db.query(refuseStatement, { id, owner, ...refusalValues(refused) })).length > 0;

/**
 * Rows that were applied, and the content of the snapshot that contains them. A dry run has no snapshot; its counts
 * describe what the snapshot would contain.
 */
export type Applied = Refused & {
  baseVersionId: string;
  snapshot: Digest | null;
  entityCounts: Record<string, number>;
  landed: Record<string, number>;
  outcome: BatchOutcome | null;
};

const appliedValues = (applied: Applied) => ({
  ...refusalValues(applied),
  baseVersionId: applied.baseVersionId,
  snapshot: applied.snapshot,
  entityCounts: JSON.stringify(applied.entityCounts),
  landed: JSON.stringify(applied.landed),
  outcome: applied.outcome === null ? null : JSON.stringify(applied.outcome),
});

const setApplied = `refused = :refused::bigint, refusals = :refusals, report = :report, base_version_id = :baseVersionId,
  snapshot = :snapshot, entity_counts = :entityCounts, landed = :landed, outcome = :outcome`;

const applyStatement = statement(
  'apply_batch',
  `with held as (update uploads set began_at = 'infinity' where id = :uploadId)
   update data_batches set state = 'applied', ${setApplied}, ${ended} where ${own('applied')} returning id`,
);

/**
 * Ends a dry run, or a batch whose rows wait to be published. From then on, protects the blobs of the batch's upload.
 */
export const applyBatch = async (
  db: Queryable,
  { id, owner }: Held,
  applied: Applied,
  uploadId: string | null,
): Promise<boolean> =>
  (await db.query(applyStatement, { id, owner, ...appliedValues(applied), uploadId })).length > 0;

const publishStatement = statement(
  'publish_batch',
  `update data_batches set state = 'published', version_id = :versionId, ${setApplied}, ${ended}
    where ${own('published')} returning id`,
);

const headStatement = statement(
  'advance_head',
  `update worlds set head_version_id = :versionId
    where id = :worldId and head_version_id = :baseVersionId and deleted_at is null and archived_at is null
   returning id`,
);

// Everything except the rows is copied from the base version.
const insertVersionStatement = statement(
  'insert_data_version',
  `insert into versions (id, world_id, project_id, number, state, content_hash, message, contract, files, entity_counts,
                         bundle, snapshot, warnings, blobs, bytes, has_api, has_ui, has_routes, tool_count, task_count, origin, author,
                         changes, tree_rows, replaced_entities)
   select :versionId, v.world_id, v.project_id, ${nextNumber('v.world_id')}, v.state, :contentHash, :message, v.contract, v.files,
          :entityCounts, v.bundle, :snapshot, v.warnings,
          array(select distinct blob from unnest(array_remove(v.blobs, v.snapshot) || :snapshot::text) blob),
          v.bytes + :addedBytes::bigint, v.has_api, v.has_ui, v.has_routes, v.tool_count, v.task_count, :origin, :author,
          :changes, :treeRows, :replaced
     from versions v where v.id = :baseVersionId`,
);

const copyTextsStatement = statement(
  'copy_version_texts',
  `insert into version_texts (version_id, name, text)
   select $2, name, text from version_texts where version_id = $1`,
);

const copyLinksStatement = statement(
  'copy_version_links',
  `insert into version_links (version_id, alias, position, target_id, tools)
   select $2, alias, position, target_id, tools from version_links where version_id = $1`,
);

const foldStatement = statement(
  'fold_batches',
  `with let_go as (
     update uploads set began_at = '-infinity', bytes = 0 where id = any(select 'rows-' || unnest(:folded::text[]))
   )
   update data_batches set state = 'published', version_id = :versionId, updated_at = now()
    where id = any(:folded) and state = 'applied' returning id`,
);

/** Version that differs from its base version only in its rows. */
export type DataVersion = {
  versionId: string;
  worldId: string;
  contentHash: string;
  message: string | null;
  author: string;
  origin: 'import' | 'publish';
  /** Size of the version's snapshot minus the size of the snapshot that it replaces, in bytes. */
  addedBytes: number;
  changes: VersionChanges;
  treeRows: Record<string, number>;
  replaced: string[];
  /** Ids of the batches whose rows this version publishes. */
  folded: string[];
  uploadId: string;
};

/**
 * Reason why no version was created. `moved`: the head of the world has changed, or the batches that wait to be
 * published have. `lost`: see `publishBatch`.
 */
export type Unpublished = 'moved' | 'lost';

class Undone extends Error {
  readonly why: Unpublished;
  constructor(why: Unpublished) {
    super(why);
    this.why = why;
  }
}

/**
 * Creates the next version of a world from applied rows, and ends the batch, in one transaction. Returns undefined on
 * success, otherwise the reason why nothing was written. `lost` means that the batch is now claimed by another worker,
 * or its blobs were garbage-collected in the meantime.
 */
export const publishBatch = async (
  db: Database,
  { id, owner }: Held,
  applied: Applied,
  version: DataVersion,
): Promise<Unpublished | undefined> => {
  const { folded, versionId } = version;
  const values = { ...appliedValues(applied), versionId };
  try {
    await db.transaction(async (tx) => {
      const heads = { versionId, worldId: version.worldId, baseVersionId: applied.baseVersionId };
      if ((await tx.query(headStatement, heads)).length === 0) throw new Undone('moved');
      if (!(await finishUpload(tx, version.uploadId))) throw new Undone('lost');
      await tx.query(insertVersionStatement, {
        versionId,
        contentHash: version.contentHash,
        message: version.message,
        entityCounts: values.entityCounts,
        snapshot: applied.snapshot,
        addedBytes: version.addedBytes,
        origin: version.origin,
        author: version.author,
        changes: JSON.stringify(version.changes),
        treeRows: JSON.stringify(version.treeRows),
        replaced: version.replaced,
        baseVersionId: applied.baseVersionId,
      });
      await tx.query(copyTextsStatement, [applied.baseVersionId, versionId]);
      await tx.query(copyLinksStatement, [applied.baseVersionId, versionId]);
      const published = await tx.query(foldStatement, { folded, versionId });
      if (published.length < folded.length) throw new Undone('moved');
      if ((await tx.query(publishStatement, { ...values, id, owner })).length === 0) {
        throw new Undone('lost');
      }
    });
    return undefined;
  } catch (error) {
    if (error instanceof Undone) return error.why;
    throw error;
  }
};

const listStatement = statement(
  'list_import_jobs',
  `select b.id, b.kind, ${projectPath('b.project_id')} || '/' || w.slug as world, b.state, b.attempts,
          (extract(epoch from now() - b.queued_at) * 1000)::float8 as "ageMs",
          (extract(epoch from b.lease_until - now()) * 1000)::float8 as "leaseMs",
          c.chunks, c.rows, b.validated_chunks as "validatedChunks", b.applied_rows::float8 as "appliedRows",
          (count(*) over ())::int as total
     from data_batches b join worlds w on w.id = b.world_id
     cross join lateral (
       select count(*)::int as chunks, coalesce(sum(rows), 0)::float8 as rows from data_chunks where batch_id = b.id
     ) c
    where b.state in ('queued', 'validating', 'applying')
    order by b.queued_at, b.id limit 1000`,
);

/** Lists the jobs that have not ended, of all projects. */
export const listImportJobs = async (
  db: Queryable,
): Promise<{ imports: AdminImport[]; total: number }> => {
  const rows = await db.query<AdminImport & { total: number }>(listStatement, []);
  return { imports: rows.map(({ total: _, ...job }) => job), total: rows[0]?.total ?? 0 };
};

const loadStatement = statement(
  'import_load',
  `select count(*) filter (where state = 'queued')::int as queued,
          count(*) filter (where state in ${running} and lease_until >= now())::int as running,
          count(*) filter (where state in ${running} and lease_until < now())::int as lost,
          coalesce(extract(epoch from now() - min(queued_at) filter (where state = 'queued')), 0)::float8 as "oldestSeconds"
     from data_batches where state in ('queued', 'validating', 'applying')`,
);

/**
 * Numbers of the installation's jobs that wait, that run, and that lost their worker, and the age of the oldest waiting
 * job.
 */
export type ImportLoad = { queued: number; running: number; lost: number; oldestSeconds: number };

export const readImportLoad = async (db: Queryable): Promise<ImportLoad> => {
  const [load] = await db.query<ImportLoad>(loadStatement, []);
  return load ?? { queued: 0, running: 0, lost: 0, oldestSeconds: 0 };
};
