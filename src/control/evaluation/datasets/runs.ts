/** Dataset runs: each item of a run is linked to a trace, which may not exist yet. */
import { hash } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { limits } from '#domain/limits.ts';
import { parseTimeUs } from '#observability/iso-time.ts';
import { cleanText } from '#observability/read-value.ts';
import type { Queryable } from '../../db/core/database.ts';
import type { Condition } from '../../db/core/where.ts';
import { findItem, findItemAt, type ItemRow } from '../../db/evaluation/dataset-items.ts';
import {
  countDatasetRuns,
  countRunItems,
  findDatasetRun,
  listDatasetRuns,
  listRunItems,
  putDatasetRun,
  putRunItem,
  type RunRow,
} from '../../db/evaluation/dataset-runs.ts';
import { type DatasetRow, findDatasetsByKeys } from '../../db/evaluation/datasets.ts';
import { dashless, keyOf } from '../../db/observability/trace-keys.ts';
import { findNamed, readName } from '../../platform/lists/names.ts';
import { openNumberedPage, walkedItems } from '../../platform/lists/numbered.ts';
import { invalidParameter, type RawQuery, textIn } from '../../platform/lists/query.ts';
import type { DatasetStore } from './datasets.ts';
import { noItem } from './items.ts';
import { noDataset } from './names.ts';
import { viewRun, viewRunItem } from './view.ts';

/** Content of a link in a request. Members with JSON are texts; members that the request omits are null. */
export type GivenRunItem = {
  runName: string;
  runDescription: string | null;
  metadata: string | null;
  datasetItemId: string;
  traceId: string | null;
  observationId: string | null;
  datasetVersion: string | null;
  createdAt: string | null;
};

const noRun = (): AppError => new AppError('not_found', 'Dataset run not found');

/** Returns the run with this name; throws `not_found`. */
export const getRun = async (db: Queryable, { key }: DatasetRow, name: string): Promise<RunRow> => {
  const run = await findNamed(name, (each) => findDatasetRun(db, key, each));
  if (run === undefined) throw noRun();
  return run;
};

const timeOf = (field: string, text: string | null): string | null => {
  if (text === null || text === '') return null;
  const us = parseTimeUs(text);
  if (us === undefined) throw invalidParameter(field, 'must be an ISO 8601 time with its offset');
  return new Date(Math.floor(us / 1_000)).toISOString();
};

const clean = (text: string | null): string | null =>
  text === null || text === '' ? null : cleanText(text);

const getActive = async (
  db: Queryable,
  projectId: string,
  id: string,
  version: string | null,
): Promise<ItemRow> => {
  const key = keyOf(projectId, cleanText(id));
  const item = await (version === null ? findItem(db, key) : findItemAt(db, key, version));
  if (item?.status === 'ACTIVE') return item;
  throw noItem();
};

/** Derives the id of a link from its content, so that a repeated request gets the same id. */
const idOfLink = (runId: string, parts: readonly (string | null)[]): string =>
  `dsl-${hash('sha256', JSON.stringify([runId, ...parts]), 'hex').slice(0, 32)}`;

/** Links an item to a run. Throws `invalid`, and `not_found` if there is no active item. */
export const linkItem = async ({ db }: DatasetStore, projectId: string, given: GivenRunItem) => {
  const traceId = clean(given.traceId);
  const observationId = clean(given.observationId);
  if (traceId === null && observationId === null) {
    throw invalidParameter('traceId', 'is required, or observationId in its place');
  }
  const name = readName('runName', given.runName);
  const datasetVersion = timeOf('datasetVersion', given.datasetVersion);
  const createdAt = timeOf('createdAt', given.createdAt);
  const item = await getActive(db, projectId, given.datasetItemId, datasetVersion);
  return db.transaction(async (tx) => {
    const id = newId('dsr');
    const run = await putDatasetRun(tx, {
      ...{ key: keyOf(projectId, id), projectId, id, name },
      datasetKey: item.datasetKey,
      description: given.runDescription === null ? null : cleanText(given.runDescription),
      metadata: given.metadata,
    });
    const linkId = idOfLink(run.id, [item.id, traceId, observationId]);
    const linked = await putRunItem(tx, {
      ...{ key: keyOf(projectId, linkId), projectId, id: linkId },
      ...{ runKey: run.key, itemKey: item.key, itemId: item.id },
      ...{ traceId, observationId, datasetVersion, createdAt },
      observationKey: observationId === null ? null : keyOf(projectId, observationId),
    });
    return viewRunItem(linked, run);
  });
};

/** Links an item to the trace of the session that was opened for the item. */
export const linkTrace = (
  tx: Queryable,
  run: RunRow,
  { itemKey, itemId, traceId }: { itemKey: string; itemId: string; traceId: string },
) => {
  const id = idOfLink(run.id, [itemId, traceId, null]);
  return putRunItem(tx, {
    ...{ key: keyOf(run.projectId, id), projectId: run.projectId, id, runKey: run.key },
    ...{ itemKey, itemId, traceId, observationId: null, observationKey: null },
    ...{ datasetVersion: null, createdAt: null },
  });
};

const placeOf = ({ createdAt, id }: { createdAt: Date; id: string }) => [createdAt, id] as const;

/** Returns a page of a dataset's runs. */
export const readRuns = async ({ db }: DatasetStore, dataset: DatasetRow, query: RawQuery) => {
  const page = openNumberedPage(query, dataset.projectId, { time: 'r.created_at', key: 'r.key' });
  const ofDataset: Condition = (bind) => `r.dataset_key = ${bind(dashless(dataset.key))}::uuid`;
  const [rows, count] = await Promise.all([
    listDatasetRuns(db, [ofDataset, ...page.conditions], page.range),
    countDatasetRuns(db, [ofDataset]),
  ]);
  const { shown, meta } = page.show(rows, count, placeOf);
  return { data: shown.map((run) => viewRun(run, dataset)), meta };
};

const ofRun =
  ({ key }: RunRow): Condition =>
  (bind) =>
    `l.run_key = ${bind(dashless(key))}::uuid`;

/** Returns a page of the items of a run. Throws `not_found` if the run does not exist. */
export const readRunItems = async ({ db }: DatasetStore, projectId: string, query: RawQuery) => {
  const [datasetId, runName] = ['datasetId', 'runName'].map((name) => {
    const text = textIn(query, name);
    if (text === undefined) throw invalidParameter(name, 'is required');
    return text;
  }) as [string, string];
  const key = keyOf(projectId, datasetId);
  const dataset = [...(await findDatasetsByKeys(db, [key])).values()][0];
  if (dataset === undefined) throw noDataset();
  const run = await getRun(db, dataset, runName);
  const page = openNumberedPage(query, projectId, { time: 'l.created_at', key: 'l.key' });
  const [rows, count] = await Promise.all([
    listRunItems(db, [ofRun(run), ...page.conditions], page.range),
    countRunItems(db, [ofRun(run)], walkedItems),
  ]);
  const { shown, meta } = page.show(rows, count, placeOf);
  return { data: shown.map((item) => viewRunItem(item, run)), meta };
};

/** Returns a run with its items, up to the maximum number of items in one answer. */
export const readRun = async ({ db }: DatasetStore, dataset: DatasetRow, name: string) => {
  const run = await getRun(db, dataset, name);
  const most = limits.countedItems;
  const rows = await listRunItems(db, [ofRun(run)], { limit: most + 1, offset: 0 });
  return {
    ...viewRun(run, dataset),
    datasetRunItems: rows.slice(0, most).map((item) => viewRunItem(item, run)),
    ...(rows.length > most ? { hasMoreItems: true as const } : {}),
  };
};
