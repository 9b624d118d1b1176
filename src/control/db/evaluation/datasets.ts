/** Datasets: their names, descriptions, metadata, and the schemas of their items. */
import { type Queryable, statement } from '../core/database.ts';
import { type Condition, listPage } from '../core/where.ts';

/** Row of a dataset. JSON members are text. */
export type DatasetRow = {
  key: string;
  projectId: string;
  id: string;
  name: string;
  description: string | null;
  metadata: string | null;
  inputSchema: string | null;
  expectedOutputSchema: string | null;
  /**
   * Number that is raised by each write to the dataset's schemas or items. It is text, because it may exceed the
   * integers of JavaScript.
   */
  revision: string;
  activeItems: number;
  createdAt: Date;
  updatedAt: Date;
};

const columns = `d.key, d.project_id as "projectId", d.id, d.name, d.description, d.metadata, d.input_schema as "inputSchema",
  d.expected_schema as "expectedOutputSchema", d.revision::text as revision, d.active_items::float8 as "activeItems",
  d.created_at as "createdAt", d.updated_at as "updatedAt"`;

const findStatement = statement(
  'find_dataset',
  `select ${columns} from datasets d where d.project_id = $1 and d.name = $2`,
);

/** Returns the dataset with this name; undefined if there is none. */
export const findDataset = async (
  db: Queryable,
  projectId: string,
  name: string,
): Promise<DatasetRow | undefined> =>
  (await db.query<DatasetRow>(findStatement, [projectId, name]))[0];

const findByKeysStatement = statement(
  'find_datasets_by_keys',
  `select ${columns} from datasets d where d.key = any($1::uuid[])`,
);

/** Returns datasets by their keys. */
export const findDatasetsByKeys = async (
  db: Queryable,
  keys: readonly string[],
): Promise<Map<string, DatasetRow>> => {
  const rows = await db.query<DatasetRow>(findByKeysStatement, [[...new Set(keys)]]);
  return new Map(rows.map((row) => [row.key, row]));
};

const lockStatement = statement(
  'lock_dataset',
  `select ${columns} from datasets d where d.key = $1 for update`,
);

/**
 * Locks the dataset and returns it; undefined if it does not exist. Other transactions cannot write to the dataset
 * until this transaction ends.
 */
export const lockDataset = async (tx: Queryable, key: string): Promise<DatasetRow | undefined> =>
  (await tx.query<DatasetRow>(lockStatement, [key]))[0];

/** Maximum number of datasets of one project. */
export const mostDatasets = 10_000;

export type NewDataset = Pick<
  DatasetRow,
  | 'key'
  | 'projectId'
  | 'id'
  | 'name'
  | 'description'
  | 'metadata'
  | 'inputSchema'
  | 'expectedOutputSchema'
>;

const insertStatement = statement(
  'insert_dataset',
  `insert into datasets as d (key, project_id, id, name, description, metadata, input_schema, expected_schema)
   select :key, :projectId, :id, :name, :description, :metadata, :inputSchema, :expectedOutputSchema
    where (select count(*) from datasets where project_id = :projectId) < ${mostDatasets}
   on conflict on constraint datasets_name do nothing
   returning ${columns}`,
);

/** Inserts a dataset. Returns undefined if its name is taken, or the project has the maximum number of datasets. */
export const insertDataset = async (
  db: Queryable,
  dataset: NewDataset,
): Promise<DatasetRow | undefined> => (await db.query<DatasetRow>(insertStatement, dataset))[0];

const updateStatement = statement(
  'update_dataset',
  `update datasets d
      set description = :description, metadata = :metadata, input_schema = :inputSchema,
          expected_schema = :expectedOutputSchema, revision = revision + 1,
          updated_at = date_trunc('milliseconds', now())
    where d.key = :key and d.revision = :revision::bigint returning ${columns}`,
);

/** Updates a dataset. Returns undefined if its schemas or items have changed since the given `revision`. */
export const updateDataset = async (
  db: Queryable,
  dataset: NewDataset & Pick<DatasetRow, 'revision'>,
): Promise<DatasetRow | undefined> => (await db.query<DatasetRow>(updateStatement, dataset))[0];

const describeStatement = statement(
  'describe_dataset',
  `update datasets d
      set description = coalesce(:description, d.description), metadata = coalesce(:metadata, d.metadata),
          updated_at = date_trunc('milliseconds', now())
    where d.key = :key returning ${columns}`,
);

/**
 * Changes the description and metadata of a dataset. Members that are null leave the stored value unchanged. Returns
 * undefined if the dataset does not exist.
 */
export const describeDataset = async (
  db: Queryable,
  given: Pick<DatasetRow, 'key' | 'description' | 'metadata'>,
): Promise<DatasetRow | undefined> => (await db.query<DatasetRow>(describeStatement, given))[0];

const noteStatement = statement(
  'note_dataset_items',
  `update datasets set revision = revision + 1, active_items = active_items + $2::bigint where key = $1`,
);

/** Raises the revision after items were written, and adds `more` to the number of active items. */
export const raiseRevision = async (tx: Queryable, key: string, more: number): Promise<void> => {
  await tx.query(noteStatement, [key, more]);
};

/** Lists a page of datasets, newest first. Conditions refer to the dataset as `d`. */
export const listDatasets = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<DatasetRow[]> =>
  listPage<DatasetRow>(
    db,
    { name: 'list_datasets', columns, from: 'datasets d', order: 'd.created_at desc, d.key desc' },
    conditions,
    page,
  );

const countStatement = statement(
  'count_datasets',
  'select count(*)::int as total from datasets where project_id = $1',
);

/** Counts the datasets of the project; there are at most `mostDatasets`. */
export const countDatasets = async (db: Queryable, projectId: string): Promise<number> =>
  (await db.query<{ total: number }>(countStatement, [projectId]))[0]?.total ?? 0;
