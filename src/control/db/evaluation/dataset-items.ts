/**
 * Items of datasets, each version a row. The present version of an item has no end; whatever changes an item ends that
 * and begins the next, in a transaction that holds the lock of the dataset.
 */
import { type Queryable, replannedStatement, statement } from '../core/database.ts';
import { violates } from '../core/errors.ts';
import { withHeavy } from '../core/heavy-pages.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, conditioned, countUpTo } from '../core/where.ts';

/** A version of an item. JSON members are text. */
export type ItemRow = {
  key: string;
  datasetKey: string;
  id: string;
  status: 'ACTIVE' | 'ARCHIVED';
  input: string | null;
  /** The expected output. */
  output: string | null;
  metadata: string | null;
  sourceTraceId: string | null;
  sourceObservationId: string | null;
  createdAt: Date;
  validFrom: Date;
  /** Whether the page had no room for what is heavy. */
  isCut: boolean;
};

const plain = `key, dataset_key as "datasetKey", id, status, source_trace_id as "sourceTraceId",
  source_observation_id as "sourceObservationId", created_at as "createdAt", valid_from as "validFrom"`;
const columns = `${plain}, input, expected_output as output, metadata, false as "isCut"`;

/**
 * Returns true if an item was not inserted because another transaction inserted one of its id: a second that is
 * present, or one of the same millisecond.
 */
export const isItemTwin = (error: unknown): boolean =>
  violates(error, 'dataset_items_present') || violates(error, 'dataset_items_pkey');

const presentStatement = statement(
  'find_dataset_item',
  `select ${columns} from dataset_items where key = $1 and valid_to is null`,
);

/** The present version of an item. */
export const findItem = async (db: Queryable, key: string): Promise<ItemRow | undefined> =>
  (await db.query<ItemRow>(presentStatement, [key]))[0];

const thenStatement = statement(
  'find_dataset_item_at',
  `select ${columns} from dataset_items
    where key = $1 and valid_from <= $2::timestamptz and (valid_to is null or valid_to > $2::timestamptz)`,
);

/** The version of an item at a time. */
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

/** Ends the present version; undefined when there is none. */
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

// After a version that was deleted within the same millisecond, another begins in the next.
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

/** Writes the next version of an item from a time on; the first of an item from now on. */
export const insertItem = async (
  tx: Queryable,
  version: NewVersion,
  ended: { at: Date; createdAt: Date } | undefined,
): Promise<ItemRow> => {
  const at = ended?.at.toISOString() ?? null;
  const createdAt = ended?.createdAt.toISOString() ?? null;
  const [row] = await tx.query<ItemRow>(insertStatement, { ...version, at, createdAt });
  if (row === undefined) throw new Error(`the item ${version.id} was not written`);
  return row;
};

/** Bytes of a page's inputs, expected outputs and metadata. */
export const itemPageBytes = 16 * 1024 * 1024;

/** A page of versions, newest items first, on `i`; what is heavy as far as the page has room. */
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

/** How many match, up to a bound that is beyond the last page that can be asked for by its number. */
export const countItems = (
  db: Queryable,
  conditions: readonly Condition[],
  most: number,
): Promise<Count> => countUpTo(db, 'count_dataset_items', 'dataset_items i', conditions, most);

/** What is held to a dataset's schemas. */
export type HeldItem = Pick<ItemRow, 'key' | 'id' | 'input' | 'output'>;

// Few are read at a time: each may be of several MB.
const heldStatement = replannedStatement(
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

/** Active items of a dataset that were written since a time, some at a time, in the order of their keys. */
export const listHeldItems = (
  db: Queryable,
  datasetKey: string,
  { since, after }: { since: string; after: string },
): Promise<HeldItem[]> => db.query<HeldItem>(heldStatement, [datasetKey, since, after]);

const clockStatement = statement('read_item_clock', `select ${clock} as now`);

/** The time by the clock that versions begin by. */
export const readItemClock = async (db: Queryable): Promise<Date> => {
  const [row] = await db.query<{ now: Date }>(clockStatement, []);
  if (row === undefined) throw new Error('the database told no time');
  return row.now;
};

const idsStatement = statement(
  'list_dataset_item_ids',
  `select id from dataset_items where dataset_key = $1 and status = 'ACTIVE' and valid_to is null
    order by created_at desc, key desc limit $2`,
);

/** Ids of active items, newest first. */
export const listItemIds = async (db: Queryable, datasetKey: string, most: number) =>
  (await db.query<{ id: string }>(idsStatement, [datasetKey, most])).map(({ id }) => id);
