/**
 * Items of datasets, with one row for each version. The current version of an item has no end (`valid_to` is null). A
 * change ends the current version and begins the next one, in a transaction that has locked the dataset.
 */
import { type Queryable, replannedStatement, statement } from '../core/database.ts';
import { violates } from '../core/errors.ts';
import { withHeavy } from '../core/heavy-pages.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, conditioned, countUpTo } from '../core/where.ts';

/** Version of an item. JSON members are text. */
export type ItemRow = {
  key: string;
  datasetKey: string;
  id: string;
  status: 'ACTIVE' | 'ARCHIVED';
  input: string | null;
  /** Expected output as JSON text; null if the item has none. */
  output: string | null;
  metadata: string | null;
  sourceTraceId: string | null;
  sourceObservationId: string | null;
  createdAt: Date;
  validFrom: Date;
  /** True if the large columns were left out because the page had reached its byte limit. */
  isCut: boolean;
};

const plain = `key, dataset_key as "datasetKey", id, status, source_trace_id as "sourceTraceId",
  source_observation_id as "sourceObservationId", created_at as "createdAt", valid_from as "validFrom"`;
const columns = `${plain}, input, expected_output as output, metadata, false as "isCut"`;

/**
 * Returns true if an insert failed because another transaction inserted the same item: another current version, or a
 * version with the same millisecond.
 */
export const isItemTwin = (error: unknown): boolean =>
  violates(error, 'dataset_items_present') || violates(error, 'dataset_items_pkey');

const presentStatement = statement(
  'find_dataset_item',
  `select ${columns} from dataset_items where key = $1 and valid_to is null`,
);

/** Returns the current version of an item; undefined if there is none. */
export const findItem = async (db: Queryable, key: string): Promise<ItemRow | undefined> =>
  (await db.query<ItemRow>(presentStatement, [key]))[0];

const thenStatement = statement(
  'find_dataset_item_at',
  `select ${columns} from dataset_items
    where key = $1 and valid_from <= $2::timestamptz and (valid_to is null or valid_to > $2::timestamptz)`,
);

/** Returns the version that an item had at the given time; undefined if there is none. */
export const findItemAt = async (
  db: Queryable,
  key: string,
  at: string,
): Promise<ItemRow | undefined> => (await db.query<ItemRow>(thenStatement, [key, at]))[0];

const clock = `date_trunc('milliseconds', clock_timestamp())`;

const endStatement = statement(
  'end_dataset_item',
  `update dataset_items set valid_to = greatest(${clock}, valid_from + interval '1 millisecond')
    where key = $1 and valid_to is null returning valid_to as at, created_at as "createdAt"`,
);

/** Ends the current version of an item. Returns undefined if there is none. */
export const endItem = async (
  tx: Queryable,
  key: string,
): Promise<{ at: Date; createdAt: Date } | undefined> =>
  (await tx.query<{ at: Date; createdAt: Date }>(endStatement, [key]))[0];

export type NewVersion = Pick<
  ItemRow,
  | 'key'
  | 'datasetKey'
  | 'id'
  | 'status'
  | 'input'
  | 'output'
  | 'metadata'
  | 'sourceTraceId'
  | 'sourceObservationId'
> & {
  projectId: string;
  sourceTraceKey: string | null;
  sourceObservationKey: string | null;
};

// If a version was deleted within the same millisecond, the next one begins in the following millisecond.
const insertStatement = statement(
  'insert_dataset_item',
  `insert into dataset_items (key, valid_from, project_id, dataset_key, id, status, input, expected_output, metadata,
                              source_trace_key, source_trace_id, source_observation_key, source_observation_id, created_at)
   select :key, at, :projectId, :datasetKey, :id, :status, :input, :output, :metadata, :sourceTraceKey, :sourceTraceId,
          :sourceObservationKey, :sourceObservationId, coalesce(:createdAt::timestamptz, at)
     from (select greatest(coalesce(:at::timestamptz, ${clock}),
                           (select max(valid_to) from dataset_items where key = :key)) as at) moment
   returning ${columns}`,
);

/** Inserts the next version of an item. It begins when the previous version ended; the first version begins now. */
export const insertItem = async (
  tx: Queryable,
  version: NewVersion,
  ended: { at: Date; createdAt: Date } | undefined,
): Promise<ItemRow> => {
  const at = ended?.at.toISOString() ?? null;
  const createdAt = ended?.createdAt.toISOString() ?? null;
  const [row] = await tx.query<ItemRow>(insertStatement, { ...version, at, createdAt });
  if (row === undefined)
    throw new Error(`the database returned no row for the inserted version of item ${version.id}`);
  return row;
};

/** Maximum total size of the inputs, expected outputs and metadata on a page, in bytes. */
export const itemPageBytes = 16 * 1024 * 1024;

/**
 * Lists a page of versions, newest items first, with the large columns up to the byte limit. Conditions refer to the
 * item as `i`.
 */
export const listItems = async (
  db: Queryable,
  conditions: readonly Condition[],
  { limit, offset }: { limit: number; offset: number },
): Promise<ItemRow[]> => {
  const page = conditioned(
    'list_dataset_items',
    (where, bind) =>
      `with paged as (
         select i.*, i.expected_output as output, row_number() over (order by i.created_at desc, i.key desc) as place
           from dataset_items i where ${where}
          order by i.created_at desc, i.key desc limit ${bind(limit)} offset ${bind(offset)}
       ) ${withHeavy(plain, itemPageBytes)}`,
    conditions,
  );
  return db.query<ItemRow>(page.statement, page.values);
};

/**
 * Counts the matching items, up to `most`. `most` is larger than the number of items up to the last page that clients
 * can request.
 */
export const countItems = (
  db: Queryable,
  conditions: readonly Condition[],
  most: number,
): Promise<Count> => countUpTo(db, 'count_dataset_items', 'dataset_items i', conditions, most);

/** Members of an item that are validated against the schemas of its dataset. */
export type CheckedItem = Pick<ItemRow, 'key' | 'id' | 'input' | 'output'>;

// Few items are read at a time, because each may have several MB.
const checkedStatement = replannedStatement(
  'list_items_to_check',
  `with sized as (
     select key, id, input, expected_output as output, row_number() over (order by key) as place,
            sum(coalesce(octet_length(input), 0) + coalesce(octet_length(expected_output), 0)) over (order by key) as bytes
       from (select * from dataset_items
              where dataset_key = $1 and valid_to is null and status = 'ACTIVE' and valid_from >= $2::timestamptz
                and key > $3::uuid
              order by key limit 1000) following
   )
   select key, id, input, output from sized where place = 1 or bytes <= 4194304 order by place`,
);

/**
 * Lists active items of a dataset that were written since a given time, in the order of their keys, after the key
 * `after`: up to 1,000 items or 4 MiB.
 */
export const listItemsToCheck = (
  db: Queryable,
  datasetKey: string,
  { since, after }: { since: string; after: string },
): Promise<CheckedItem[]> => db.query<CheckedItem>(checkedStatement, [datasetKey, since, after]);

const clockStatement = statement('read_item_clock', `select ${clock} as now`);

/** Returns the time by the database's clock, from which the times of versions also come. */
export const readItemClock = async (db: Queryable): Promise<Date> => {
  const [row] = await db.query<{ now: Date }>(clockStatement, []);
  if (row === undefined) throw new Error('the database returned no row for its current time');
  return row.now;
};

const idsStatement = statement(
  'list_dataset_item_ids',
  `select id from dataset_items where dataset_key = $1 and status = 'ACTIVE' and valid_to is null
    order by created_at desc, key desc limit $2`,
);

/** Lists the ids of active items, newest first. */
export const listItemIds = async (db: Queryable, datasetKey: string, most: number) =>
  (await db.query<{ id: string }>(idsStatement, [datasetKey, most])).map(({ id }) => id);
