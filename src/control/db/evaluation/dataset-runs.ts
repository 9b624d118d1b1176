/** Runs of datasets, and the run items, each of which links a dataset item to a trace. */
import { type Queryable, statement } from '../core/database.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, countUpTo, listPage } from '../core/where.ts';

export type RunRow = {
  key: string;
  projectId: string;
  id: string;
  datasetKey: string;
  name: string;
  description: string | null;
  metadata: string | null;
  createdAt: Date;
  updatedAt: Date;
};

const columns = `r.key, r.project_id as "projectId", r.id, r.dataset_key as "datasetKey", r.name, r.description, r.metadata,
  r.created_at as "createdAt", r.updated_at as "updatedAt"`;

const findStatement = statement(
  'find_dataset_run',
  `select ${columns} from dataset_runs r where r.dataset_key = $1 and r.name = $2`,
);

/** Returns the run of a dataset with this name; undefined if there is none. */
export const findDatasetRun = async (
  db: Queryable,
  datasetKey: string,
  name: string,
): Promise<RunRow | undefined> => (await db.query<RunRow>(findStatement, [datasetKey, name]))[0];

const findByKeyStatement = statement(
  'find_dataset_run_by_key',
  `select ${columns} from dataset_runs r where r.key = $1`,
);

/** Returns the run with this key; undefined if it was deleted. */
export const findDatasetRunByKey = async (
  db: Queryable,
  key: string,
): Promise<RunRow | undefined> => (await db.query<RunRow>(findByKeyStatement, [key]))[0];

export type NewDatasetRun = Omit<RunRow, 'createdAt' | 'updatedAt'>;

const putStatement = statement(
  'put_dataset_run',
  `insert into dataset_runs as r (key, project_id, id, dataset_key, name, description, metadata)
   values (:key, :projectId, :id, :datasetKey, :name, :description, :metadata)
   on conflict on constraint dataset_runs_name do update
      set description = coalesce(excluded.description, r.description),
          metadata = coalesce(excluded.metadata, r.metadata), updated_at = excluded.updated_at
   returning ${columns}`,
);

/** Creates the run with this name, or updates it. Members that are null leave the stored value unchanged. */
export const putDatasetRun = async (tx: Queryable, run: NewDatasetRun): Promise<RunRow> => {
  const [row] = await tx.query<RunRow>(putStatement, run);
  if (row === undefined)
    throw new Error(`the database returned no row for the written dataset run ${run.name}`);
  return row;
};

/** Lists a page of runs, newest first. Conditions refer to the run as `r`. */
export const listDatasetRuns = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<RunRow[]> =>
  listPage<RunRow>(
    db,
    {
      name: 'list_dataset_runs',
      columns,
      from: 'dataset_runs r',
      order: 'r.created_at desc, r.key desc',
    },
    conditions,
    page,
  );

export const countDatasetRuns = (db: Queryable, conditions: readonly Condition[]): Promise<Count> =>
  countUpTo(db, 'count_dataset_runs', 'dataset_runs r', conditions);

const namesStatement = statement(
  'list_dataset_run_names',
  `select name from dataset_runs where dataset_key = $1 order by created_at desc, key desc limit $2`,
);

export const listRunNames = async (db: Queryable, datasetKey: string, most: number) =>
  (await db.query<{ name: string }>(namesStatement, [datasetKey, most])).map(({ name }) => name);

const deleteStatement = statement(
  'delete_dataset_run',
  `with gone as (delete from dataset_runs where key = $1 returning key),
        items_gone as (delete from dataset_run_items where run_key = $1)
   select key from gone`,
);

/** Deletes a run with its items; returns false if it no longer exists. */
export const deleteDatasetRun = async (db: Queryable, key: string): Promise<boolean> =>
  (await db.query(deleteStatement, [key])).length > 0;

export type RunItemRow = {
  key: string;
  id: string;
  itemId: string;
  /** Id of the trace; null if the link names only an observation, and that observation is not stored yet. */
  traceId: string | null;
  observationId: string | null;
  createdAt: Date;
  updatedAt: Date;
};

const itemColumns = `l.key, l.id, l.item_id as "itemId", coalesce(l.trace_id,
    (select o.trace_id from observations o where o.key = l.observation_key limit 1)) as "traceId",
  l.observation_id as "observationId", l.created_at as "createdAt", l.updated_at as "updatedAt"`;

export type NewRunItem = {
  key: string;
  projectId: string;
  id: string;
  runKey: string;
  itemKey: string;
  itemId: string;
  traceId: string | null;
  observationId: string | null;
  observationKey: string | null;
  datasetVersion: string | null;
  /** Time as ISO text; null means now. */
  createdAt: string | null;
};

const putItemStatement = statement(
  'put_dataset_run_item',
  `insert into dataset_run_items as l (key, project_id, id, run_key, item_key, item_id, trace_id, observation_id,
                                       observation_key, dataset_version, created_at)
   values (:key, :projectId, :id, :runKey, :itemKey, :itemId, :traceId, :observationId, :observationKey,
           :datasetVersion::timestamptz, coalesce(:createdAt::timestamptz, date_trunc('milliseconds', now())))
   on conflict (key) do update set updated_at = excluded.updated_at
   returning ${itemColumns}`,
);

/** Links an item in a run. If the same link exists already, returns that link. */
export const putRunItem = async (tx: Queryable, item: NewRunItem): Promise<RunItemRow> => {
  const [row] = await tx.query<RunItemRow>(putItemStatement, item);
  if (row === undefined)
    throw new Error(`the database returned no row for the inserted run item of ${item.itemId}`);
  return row;
};

/** Lists a page of the items of a run, newest first. Conditions refer to the run item as `l`. */
export const listRunItems = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<RunItemRow[]> =>
  listPage<RunItemRow>(
    db,
    {
      name: 'list_dataset_run_items',
      columns: itemColumns,
      from: 'dataset_run_items l',
      order: 'l.created_at desc, l.key desc',
    },
    conditions,
    page,
  );

export const countRunItems = (
  db: Queryable,
  conditions: readonly Condition[],
  most: number,
): Promise<Count> =>
  countUpTo(db, 'count_dataset_run_items', 'dataset_run_items l', conditions, most);
