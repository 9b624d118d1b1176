/**
 * Creates, changes, deletes and lists items of datasets. A change is computed from the item as it was read, checked
 * against the schemas outside any transaction, and written if the item and the schemas have not changed meanwhile.
 * Otherwise the change is computed again under the lock of the dataset.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { cleanText } from '#observability/read-value.ts';
import type { DatasetItemView, ItemState } from '#wire/public-api/evaluation/dataset.ts';
import type { Queryable } from '../../db/core/database.ts';
import type { Count } from '../../db/core/lists.ts';
import type { Condition } from '../../db/core/where.ts';
import {
  countItems,
  endItem,
  findItem,
  type ItemRow,
  insertItem,
  isItemTwin,
  itemPageBytes,
  listItems,
} from '../../db/evaluation/dataset-items.ts';
import {
  type DatasetRow,
  findDatasetsByKeys,
  lockDataset,
  raiseRevision,
} from '../../db/evaluation/datasets.ts';
import { dashless, keyOf } from '../../db/observability/trace-keys.ts';
import { keyed, oneOf } from '../../platform/lists/conditions.ts';
import { openNumberedPage, walkedItems } from '../../platform/lists/numbered.ts';
import { invalidParameter, type RawQuery, textIn, timeIn } from '../../platform/lists/query.ts';
import { type DatasetStore, lockWaitMs } from './datasets.ts';
import { getDataset, noDataset } from './names.ts';
import { hasSchemas, refuseMisfit } from './schemas.ts';
import { type ShownItem, viewItems } from './view.ts';

/** Content of an item in a request. Members with JSON are texts; members that the request omits are null. */
export type GivenItem = {
  datasetName: string;
  id: string | null;
  input: string | null;
  output: string | null;
  metadata: string | null;
  sourceTraceId: string | null;
  sourceObservationId: string | null;
  status: ItemState | null;
};

export const noItem = (): AppError => new AppError('not_found', 'Dataset item not found');

type Content = Pick<
  ItemRow,
  'status' | 'input' | 'output' | 'metadata' | 'sourceTraceId' | 'sourceObservationId'
>;

const merge = (known: ItemRow | undefined, given: GivenItem): Content => ({
  status: given.status ?? known?.status ?? 'ACTIVE',
  input: given.input ?? known?.input ?? null,
  output: given.output ?? known?.output ?? null,
  metadata: given.metadata ?? known?.metadata ?? null,
  sourceTraceId: given.sourceTraceId ?? known?.sourceTraceId ?? null,
  sourceObservationId: given.sourceObservationId ?? known?.sourceObservationId ?? null,
});

const isSame = (known: Content, next: Content): boolean =>
  known.status === next.status &&
  known.input === next.input &&
  known.output === next.output &&
  known.metadata === next.metadata &&
  known.sourceTraceId === next.sourceTraceId &&
  known.sourceObservationId === next.sourceObservationId;

const keyIn = (projectId: string, id: string | null): string | null =>
  id === null ? null : keyOf(projectId, id);

const activeIn = (content: Content | undefined): number => (content?.status === 'ACTIVE' ? 1 : 0);

type Change = { dataset: DatasetRow; id: string; known: ItemRow | undefined; next: Content };

/** Inserts the next version within a transaction that holds the dataset's lock. */
const insertVersion = async (
  tx: Queryable,
  { dataset, id, known, next }: Change,
): Promise<ItemRow> => {
  const { projectId } = dataset;
  const key = keyOf(projectId, id);
  const version = {
    ...next,
    ...{ projectId, id, key, datasetKey: dataset.key },
    sourceTraceKey: keyIn(projectId, next.sourceTraceId),
    sourceObservationKey: keyIn(projectId, next.sourceObservationId),
  };
  const written = await insertItem(tx, version, await endItem(tx, key));
  await raiseRevision(tx, dataset.key, activeIn(next) - activeIn(known));
  return written;
};

/** Writes the next version; returns undefined if the item or the schemas were changed since they were read. */
const writeUnlessChanged = ({ db }: DatasetStore, change: Change): Promise<ItemRow | undefined> =>
  db.transaction(async (tx) => {
    const { dataset, id, known } = change;
    const locked = await lockDataset(tx, dataset.key);
    const present = await findItem(tx, keyOf(dataset.projectId, id));
    const hasOtherSchemas =
      locked?.inputSchema !== dataset.inputSchema ||
      locked?.expectedOutputSchema !== dataset.expectedOutputSchema;
    const isOther = present?.validFrom.getTime() !== known?.validFrom.getTime();
    return hasOtherSchemas || isOther ? undefined : insertVersion(tx, change);
  });

const readIds = (given: GivenItem): { id: string; given: GivenItem } => {
  const clean = (text: string | null) => (text === null || text === '' ? null : cleanText(text));
  const sourceTraceId = clean(given.sourceTraceId);
  const sourceObservationId = clean(given.sourceObservationId);
  const id = clean(given.id) ?? randomUUID();
  return { id, given: { ...given, sourceTraceId, sourceObservationId } };
};

const ofAnother = (id: string): AppError =>
  new AppError('conflict', `an item of another dataset has the id "${id}"`);

type Asked = { dataset: DatasetRow; id: string; given: GivenItem };

/** Returns the next content of an item; undefined if the request changes nothing. Throws `conflict` and `invalid`. */
const nextContent = async (
  { compiler }: Pick<DatasetStore, 'compiler'>,
  { dataset, id, given }: Asked,
  known: ItemRow | undefined,
): Promise<Content | undefined> => {
  if (known !== undefined && known.datasetKey !== dataset.key) throw ofAnother(id);
  const next = merge(known, given);
  if (known !== undefined && isSame(known, next)) return undefined;
  if (next.status === 'ACTIVE' && hasSchemas(dataset)) {
    await refuseMisfit(compiler, dataset.projectId, dataset, next);
  }
  return next;
};

/** Writes the item without waiting; returns undefined if another writer changed the item or the schemas meanwhile. */
const putAtOnce = async (store: DatasetStore, asked: Asked): Promise<ItemRow | undefined> => {
  const { dataset, id } = asked;
  const known = await findItem(store.db, keyOf(dataset.projectId, id));
  const next = await nextContent(store, asked, known);
  if (next === undefined) return known;
  return writeUnlessChanged(store, { dataset, id, known, next });
};

/**
 * Writes the item under the lock of its dataset, after waiting for the lock, and checks the schemas there. Only writers
 * that collided with another writer do this, because the check may take long.
 */
const putInTurn = ({ db, compiler }: DatasetStore, asked: Asked): Promise<ItemRow> =>
  db.transaction(
    async (tx) => {
      const { id } = asked;
      const dataset = await lockDataset(tx, asked.dataset.key);
      if (dataset === undefined) throw noDataset();
      const known = await findItem(tx, keyOf(dataset.projectId, id));
      const next = await nextContent({ compiler }, { ...asked, dataset }, known);
      if (known !== undefined && next === undefined) return known;
      return insertVersion(tx, { dataset, id, known, next: next ?? merge(known, asked.given) });
    },
    'usual',
    { rowsMs: lockWaitMs },
  );

const viewItem = async (
  { findMedia }: DatasetStore,
  shown: ShownItem,
): Promise<DatasetItemView> => {
  const [view] = await viewItems([shown], findMedia);
  if (view === undefined) throw new Error(`there is no view of the item ${shown.item.id}`);
  return view;
};

/** Creates an item, or the next version of the item with its id. Throws `not_found`, `conflict` and `invalid`. */
export const putItem = async (store: DatasetStore, projectId: string, asked: GivenItem) => {
  const { id, given } = readIds(asked);
  const dataset = await getDataset(store.db, projectId, given.datasetName);
  try {
    const put = { dataset, id, given };
    const item = (await putAtOnce(store, put)) ?? (await putInTurn(store, put));
    return await viewItem(store, { item, dataset });
  } catch (error) {
    // Writers of two datasets hold two different locks; the unique index on present items decides between them.
    throw isItemTwin(error) ? ofAnother(id) : error;
  }
};

const datasetOf = async ({ db }: DatasetStore, { datasetKey }: ItemRow): Promise<DatasetRow> => {
  const dataset = (await findDatasetsByKeys(db, [datasetKey])).get(datasetKey);
  if (dataset === undefined) throw noItem();
  return dataset;
};

/** Returns the present version of an item. Throws `not_found`. */
export const getItem = async (store: DatasetStore, projectId: string, id: string) => {
  const item = await findItem(store.db, keyOf(projectId, id));
  if (item === undefined) throw noItem();
  return viewItem(store, { item, dataset: await datasetOf(store, item) });
};

/** Deletes an item; its earlier versions stay. Throws `not_found`. */
export const deleteItem = async (store: DatasetStore, projectId: string, id: string) => {
  const key = keyOf(projectId, id);
  const found = await findItem(store.db, key);
  if (found === undefined) throw noItem();
  await store.db.transaction(async (tx) => {
    await lockDataset(tx, found.datasetKey);
    const present = await findItem(tx, key);
    if (present === undefined) throw noItem();
    await endItem(tx, key);
    await raiseRevision(tx, found.datasetKey, -activeIn(present));
  });
};

const order = { time: 'i.created_at', key: 'i.key' };

const present: Condition = () => 'i.valid_to is null';
const presentAt =
  (at: string): Condition =>
  (bind) => {
    const time = `${bind(at)}::timestamptz`;
    return `i.created_at <= ${time} and i.valid_from <= ${time} and (i.valid_to is null or i.valid_to > ${time})`;
  };

const asActive = (query: RawQuery): RawQuery =>
  textIn(query, 'status') === undefined ? { ...query, status: 'ACTIVE' } : query;

const states = ['ACTIVE', 'ARCHIVED'];

/**
 * Reads the dataset and the conditions of a list of items. `isWhole` is true if the list has exactly the active items
 * of the dataset, whose number the dataset stores.
 */
const readFilters = async (store: DatasetStore, projectId: string, query: RawQuery) => {
  const name = textIn(query, 'datasetName');
  const version = timeIn(query, 'version');
  if (version !== undefined && name === undefined) {
    throw invalidParameter('version', 'needs datasetName as well');
  }
  const dataset = name === undefined ? undefined : await getDataset(store.db, projectId, name);
  const ofDataset: Condition = (bind) =>
    dataset === undefined
      ? `i.project_id = ${bind(projectId)}`
      : `i.dataset_key = ${bind(dashless(dataset.key))}::uuid`;
  const bySource = [
    keyed(query, projectId, 'sourceTraceId', 'i.source_trace_key'),
    keyed(query, projectId, 'sourceObservationId', 'i.source_observation_key'),
  ].filter((condition) => condition !== undefined);
  const status = oneOf(asActive(query), 'status', states, 'i.status');
  const conditions = [
    ofDataset,
    version === undefined ? present : presentAt(version),
    ...(status === undefined ? [] : [status]),
    ...bySource,
  ];
  const isWhole =
    version === undefined &&
    bySource.length === 0 &&
    textIn(asActive(query), 'status') === 'ACTIVE';
  return { dataset, conditions, isWhole };
};

/**
 * Returns the rows of a page if none of them is cut. Throws `invalid` if together they exceed the byte limit; the
 * message has the number of items that fit.
 */
const wholeRows = (rows: readonly ItemRow[], shown: readonly ItemRow[]): readonly ItemRow[] => {
  const fitting = rows.findIndex(({ isCut }) => isCut);
  if (fitting === -1 || fitting >= shown.length) return shown;
  throw invalidParameter(
    'limit',
    `asks for a page of more than ${itemPageBytes} bytes of items: set "limit" to ${fitting} or less`,
  );
};

/**
 * Returns a page of items. The total is exact for the active items of one dataset, and counted up to a limit for other
 * lists.
 */
export const readItems = async (store: DatasetStore, projectId: string, query: RawQuery) => {
  const { dataset, conditions, isWhole } = await readFilters(store, projectId, query);
  const page = openNumberedPage(query, projectId, order);
  const count: Promise<Count> | Count =
    isWhole && dataset !== undefined
      ? { total: dataset.activeItems, isLowerBound: false }
      : countItems(store.db, conditions, walkedItems);
  const [rows, counted] = await Promise.all([
    listItems(store.db, [...conditions, ...page.conditions], page.range),
    count,
  ]);
  const { shown, meta } = page.show(rows, counted, ({ createdAt, id }) => [createdAt, id]);
  const datasets =
    dataset === undefined
      ? await findDatasetsByKeys(
          store.db,
          shown.map(({ datasetKey }) => datasetKey),
        )
      : new Map([[dataset.key, dataset]]);
  const items = wholeRows(rows, shown).flatMap((item): ShownItem[] => {
    const own = datasets.get(item.datasetKey);
    return own === undefined ? [] : [{ item, dataset: own }];
  });
  return { data: await viewItems(items, store.findMedia), meta };
};

/** Maximum number of items that the older route returns together with their dataset. */
const mostTogether = limits.countedItems;

/**
 * Returns all active items of a dataset, newest first. Throws `invalid` if they are too many or too large for one
 * answer.
 */
export const readAllItems = async (store: DatasetStore, dataset: DatasetRow) => {
  const conditions: Condition[] = [
    (bind) => `i.dataset_key = ${bind(dashless(dataset.key))}::uuid`,
    () => `i.status = 'ACTIVE'`,
    present,
  ];
  const range = { limit: mostTogether + 1, offset: 0 };
  const rows = await listItems(store.db, conditions, range);
  if (rows.length <= mostTogether && rows.every(({ isCut }) => !isCut)) {
    return viewItems(
      rows.map((item) => ({ item, dataset })),
      store.findMedia,
    );
  }
  throw new AppError(
    'invalid',
    'the dataset has more items than fit into one answer: read them in pages from /dataset-items',
  );
};
