/** Endpoints of datasets, their items and their runs. */
import { limits } from '#domain/limits.ts';
import * as api from '#wire/public-api/operations.ts';
import { listItemIds } from '../../../db/evaluation/dataset-items.ts';
import { deleteDatasetRun, listRunNames } from '../../../db/evaluation/dataset-runs.ts';
import type { RolloutPlace } from '../../../db/evaluation/dataset-world-runs.ts';
import { countDatasets, type DatasetRow, listDatasets } from '../../../db/evaluation/datasets.ts';
import {
  describeWorldRun,
  readRollouts,
  startWorldRun,
  stopRun,
  viewRollout,
  viewWorldRun,
} from '../../../evaluation/dataset-runs/world-runs.ts';
import { type DatasetStore, putDataset } from '../../../evaluation/datasets/datasets.ts';
import {
  deleteItem,
  getItem,
  putItem,
  readAllItems,
  readItems,
} from '../../../evaluation/datasets/items.ts';
import { getDataset } from '../../../evaluation/datasets/names.ts';
import {
  getRun,
  linkItem,
  readRun,
  readRunItems,
  readRuns,
} from '../../../evaluation/datasets/runs.ts';
import { viewDataset } from '../../../evaluation/datasets/view.ts';
import type { Parts } from '../../../parts.ts';
import { writeCursor } from '../../../platform/lists/cursor.ts';
import { openNumberedPage } from '../../../platform/lists/numbered.ts';
import type { RawQuery } from '../../../platform/lists/query.ts';
import { findReferredMedia } from '../../../projects/files/media.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { type CursorForm, isWhole, openPage } from '../../server/paging.ts';

const storeOf = (parts: Parts): DatasetStore => ({
  db: parts.traces.db,
  compiler: parts.compiler,
  findMedia: (projectId, ids) => findReferredMedia(parts, projectId, ids),
});

/** Maximum number of run names, and of item ids, that the older routes list for a dataset. */
const mostNames = limits.countedItems;

const readDatasets = async (parts: Parts, projectId: string, query: RawQuery) => {
  const { db } = storeOf(parts);
  const page = openNumberedPage(query, projectId, { time: 'd.created_at', key: 'd.key' });
  const ofProject = (bind: (value: unknown) => string) => `d.project_id = ${bind(projectId)}`;
  const [rows, total] = await Promise.all([
    listDatasets(db, [ofProject, ...page.conditions], page.range),
    countDatasets(db, projectId),
  ]);
  const count = { total, isLowerBound: false };
  return page.show(rows, count, ({ createdAt, id }) => [createdAt, id]);
};

const datasetEndpointsOf = (parts: Parts): Endpoint[] => [
  endpoint(api.createDataset, async ({ body }, { caller: { projectId } }) =>
    respond(200, viewDataset(await putDataset(storeOf(parts), projectId, body))),
  ),

  endpoint(api.listDatasets, async ({ query }, { caller: { projectId } }) => {
    const { shown, meta } = await readDatasets(parts, projectId, query);
    return respond(200, { data: shown.map(viewDataset), meta });
  }),

  endpoint(api.getDataset, async ({ params: { datasetName } }, { caller: { projectId } }) =>
    respond(200, viewDataset(await getDataset(parts.traces.db, projectId, datasetName))),
  ),
];

/** Builds the older routes of datasets, for clients that do not know the newer ones. */
const olderEndpointsOf = (parts: Parts): Endpoint[] => {
  const { db } = parts.traces;
  const viewWhole = async (dataset: DatasetRow) => ({
    ...viewDataset(dataset),
    items: await readAllItems(storeOf(parts), dataset),
    runs: await listRunNames(db, dataset.key, mostNames),
  });
  return [
    endpoint(api.createNamedDataset, async ({ body }, { caller: { projectId } }) => {
      const dataset = await putDataset(storeOf(parts), projectId, body);
      return respond(200, { ...viewDataset(dataset), items: [], runs: [] });
    }),

    endpoint(api.listNamedDatasets, async ({ query }, { caller: { projectId } }) => {
      const { shown, meta } = await readDatasets(parts, projectId, query);
      const data = await Promise.all(
        shown.map(async (dataset) => ({
          ...viewDataset(dataset),
          items: await listItemIds(db, dataset.key, mostNames),
          runs: await listRunNames(db, dataset.key, mostNames),
        })),
      );
      return respond(200, { data, meta });
    }),

    endpoint(api.getNamedDataset, async ({ params: { name } }, { caller: { projectId } }) =>
      respond(200, await viewWhole(await getDataset(db, projectId, name))),
    ),
  ];
};

const itemEndpointsOf = (parts: Parts): Endpoint[] => [
  endpoint(api.createDatasetItem, async ({ body }, { caller: { projectId } }) =>
    respond(200, await putItem(storeOf(parts), projectId, body)),
  ),

  endpoint(api.listDatasetItems, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readItems(storeOf(parts), projectId, query)),
  ),

  endpoint(api.getDatasetItem, async ({ params }, { caller: { projectId } }) =>
    respond(200, await getItem(storeOf(parts), projectId, params.datasetItemId)),
  ),

  endpoint(api.deleteDatasetItem, async ({ params }, { caller: { projectId } }) => {
    await deleteItem(storeOf(parts), projectId, params.datasetItemId);
    return respond(200, { message: 'Dataset item successfully deleted' });
  }),
];

const runEndpointsOf = (parts: Parts): Endpoint[] => {
  const { db } = parts.traces;
  return [
    endpoint(api.createDatasetRunItem, async ({ body }, { caller: { projectId } }) =>
      respond(200, await linkItem(storeOf(parts), projectId, body)),
    ),

    endpoint(api.listDatasetRunItems, async ({ query }, { caller: { projectId } }) =>
      respond(200, await readRunItems(storeOf(parts), projectId, query)),
    ),

    endpoint(api.listDatasetRuns, async ({ params, query }, { caller: { projectId } }) => {
      const dataset = await getDataset(db, projectId, params.name);
      return respond(200, await readRuns(storeOf(parts), dataset, query));
    }),

    endpoint(api.getDatasetRun, async ({ params }, { caller: { projectId } }) => {
      const dataset = await getDataset(db, projectId, params.name);
      const run = await readRun(storeOf(parts), dataset, params.runName);
      return respond(200, { ...run, ...(await describeWorldRun(parts, dataset, params.runName)) });
    }),

    endpoint(api.deleteDatasetRun, async ({ params }, { caller: { projectId } }) => {
      const dataset = await getDataset(db, projectId, params.name);
      const run = await getRun(db, dataset, params.runName);
      await deleteDatasetRun(db, run.key);
      return respond(200, { message: 'Dataset run successfully deleted' });
    }),
  ];
};

const byPosition: CursorForm<RolloutPlace> = {
  write: ({ position, itemKey }) => [position, itemKey],
  read: ([position, itemKey]) =>
    isWhole(position) && typeof itemKey === 'string' && /^[\da-f-]{36}$/.test(itemKey)
      ? { position, itemKey }
      : undefined,
};

/** Builds the endpoints of runs of datasets on worlds. */
const worldRunEndpointsOf = (parts: Parts): Endpoint[] => {
  const { db } = parts.traces;
  return [
    endpoint(api.startDatasetRun, async ({ params, body }, { caller: { projectId } }) => {
      const dataset = await getDataset(db, projectId, params.name);
      return respond(202, await startWorldRun(parts, dataset, body));
    }),

    endpoint(api.listDatasetRunSessions, async ({ params, query }, { caller: { projectId } }) => {
      const dataset = await getDataset(db, projectId, params.name);
      const run = await getRun(db, dataset, params.runName);
      const { state = null } = query;
      const { range } = openPage(query, byPosition);
      const asked = { state, after: range.from, limit: range.limit };
      const { rows, hasMore, worldRun } = await readRollouts(parts, run, asked);
      const last = rows.at(-1);
      const next = hasMore && last !== undefined ? [1, ...byPosition.write(last)] : undefined;
      return respond(200, {
        data: rows.map(viewRollout),
        meta: {
          limit: range.limit,
          ...(next === undefined ? {} : { nextCursor: writeCursor(next) }),
        },
        worldRun: viewWorldRun(worldRun),
      });
    }),

    endpoint(api.stopDatasetRun, async ({ params }, { caller: { projectId } }) => {
      const dataset = await getDataset(db, projectId, params.name);
      return respond(200, await stopRun(parts, dataset, params.runName));
    }),
  ];
};

export const datasetEndpoints = (parts: Parts): Endpoint[] => [
  ...datasetEndpointsOf(parts),
  ...olderEndpointsOf(parts),
  ...itemEndpointsOf(parts),
  ...runEndpointsOf(parts),
  ...worldRunEndpointsOf(parts),
];
