/**
 * Creates and changes datasets. New schemas must fit every active item, so all items are checked first, without a lock.
 * If other requests wrote to the dataset meanwhile, the items written since then are checked again, under the lock of
 * the dataset.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  type CheckedItem,
  listItemsToCheck,
  readItemClock,
} from '../../db/evaluation/dataset-items.ts';
import {
  type DatasetRow,
  describeDataset,
  findDataset,
  insertDataset,
  lockDataset,
  mostDatasets,
  updateDataset,
} from '../../db/evaluation/datasets.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { readName } from '../../platform/lists/names.ts';
import type { Compiler } from '../../worlds/compile/compiler.ts';
import type { FindMedia } from './media-references.ts';
import { getDataset, noDataset } from './names.ts';
import { checkItems, hasSchemas, type Schemas } from './schemas.ts';

/** Content of a dataset in a request. Members with JSON are texts; members that the request omits are null. */
export type GivenDataset = {
  name: string;
  description: string | null;
  metadata: string | null;
  inputSchema: string | null;
  expectedOutputSchema: string | null;
};

/** Parts needed to store datasets, to check items against their schemas, and to find the media that items refer to. */
export type DatasetStore = { db: Database; compiler: Compiler; findMedia: FindMedia };

/** Parts needed to check items, within a transaction or without one. */
type CheckingStore = { db: Queryable; compiler: Compiler };

/** Maximum time that a writer waits for other writers of the same dataset, in milliseconds. */
export const lockWaitMs = 10_000;
const mostListed = 10;
const firstKey = '00000000-0000-0000-0000-000000000000';
/** Maximum duration of a transaction that writes an item, in milliseconds. */
const longestWriteMs = 60_000;
const always = new Date(0).toISOString();

/**
 * Returns the schema to store. A schema that accepts everything is stored as null; if the request gives none, the
 * stored schema stays.
 */
const givenSchema = (given: string | null, known: string | null): string | null => {
  if (given === null) return known;
  return given === '{}' || given === 'true' ? null : given;
};

const throwMisfits = (misfits: readonly { id: string; message: string }[]): void => {
  if (misfits.length === 0) return;
  const named = misfits.map(({ id, message }) => `"${id}": ${message}`).join('; ');
  throw new AppError('invalid', `items of the dataset do not fit the schema: ${named}`, {
    fields: misfits.map(({ id, message }) => ({ path: ['items', id], message })),
  });
};

/**
 * Checks the items that were written since a time against schemas. Throws `invalid`, naming up to 10 items that do not
 * fit.
 */
const checkAllItems = async (
  { db, compiler }: CheckingStore,
  { key, projectId }: DatasetRow,
  schemas: Schemas,
  since: string,
): Promise<void> => {
  const misfits: { id: string; message: string }[] = [];
  let after = firstKey;
  while (misfits.length < mostListed) {
    const items: CheckedItem[] = await listItemsToCheck(db, key, { since, after });
    const last = items.at(-1);
    if (last === undefined) break;
    after = last.key;
    for (const { index, fields } of await checkItems(compiler, projectId, schemas, items)) {
      const [first] = fields;
      const message = `${first?.path.join('.')} ${first?.message}`;
      misfits.push({ id: items[index]?.id ?? '', message });
    }
  }
  throwMisfits(misfits.slice(0, mostListed));
};

const create = async (
  { db, compiler }: DatasetStore,
  projectId: string,
  given: GivenDataset,
): Promise<DatasetRow | undefined> => {
  const id = newId('dts');
  const schemas = {
    inputSchema: givenSchema(given.inputSchema, null),
    expectedOutputSchema: givenSchema(given.expectedOutputSchema, null),
  };
  if (hasSchemas(schemas)) await checkItems(compiler, projectId, schemas, []);
  const key = keyOf(projectId, id);
  const made = await insertDataset(db, { ...given, ...schemas, key, projectId, id });
  if (made !== undefined) return made;
  if ((await findDataset(db, projectId, given.name)) !== undefined) return undefined;
  const message = `the project has ${mostDatasets} datasets, the maximum`;
  throw new AppError('exhausted', message, { detail: { limit: mostDatasets } });
};

/** Changes a dataset; returns undefined if another request wrote to it meanwhile. */
const change = async (
  store: CheckingStore,
  known: DatasetRow,
  given: GivenDataset,
  since: string,
): Promise<DatasetRow | undefined> => {
  const schemas = {
    inputSchema: givenSchema(given.inputSchema, known.inputSchema),
    expectedOutputSchema: givenSchema(given.expectedOutputSchema, known.expectedOutputSchema),
  };
  const isSame =
    schemas.inputSchema === known.inputSchema &&
    schemas.expectedOutputSchema === known.expectedOutputSchema;
  if (isSame) return describeDataset(store.db, { ...given, key: known.key });
  if (hasSchemas(schemas)) {
    await checkItems(store.compiler, known.projectId, schemas, []);
    await checkAllItems(store, known, schemas, since);
  }
  const description = given.description ?? known.description;
  const metadata = given.metadata ?? known.metadata;
  return updateDataset(store.db, { ...known, ...schemas, description, metadata });
};

/** Changes a dataset after waiting for its lock, so that no other writer can interfere. */
const changeInTurn = (
  { db, compiler }: DatasetStore,
  known: DatasetRow,
  given: GivenDataset,
  since: string,
): Promise<DatasetRow | undefined> =>
  db.transaction(
    async (tx) => {
      const locked = await lockDataset(tx, known.key);
      return locked && change({ db: tx, compiler }, locked, given, since);
    },
    'usual',
    { rowsMs: lockWaitMs },
  );

/**
 * Creates the dataset with this name, or changes it. Throws `invalid`, `exhausted`, and `unavailable` after a long wait
 * for the lock.
 */
export const putDataset = async (
  store: DatasetStore,
  projectId: string,
  { name: givenName, ...members }: GivenDataset,
): Promise<DatasetRow> => {
  const given = { ...members, name: readName('name', givenName) };
  const now = await readItemClock(store.db);
  const found = await findDataset(store.db, projectId, given.name);
  const made = found === undefined ? await create(store, projectId, given) : undefined;
  if (made !== undefined) return made;
  const known = found ?? (await getDataset(store.db, projectId, given.name));
  const changed = await change(store, known, given, always);
  if (changed !== undefined) return changed;
  // Items that were stored at the start fit the schemas. Items that were being written then, or later, are
  // unchecked.
  const since = new Date(now.getTime() - longestWriteMs).toISOString();
  const put = await changeInTurn(store, known, given, since);
  if (put === undefined) throw noDataset();
  return put;
};
