/** Operations on datasets, their items and their runs. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { oneOf } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { Done, Param } from '../observability/trace.ts';
import {
  cursorParams,
  DatasetBody,
  DatasetItemBody,
  DatasetItemList,
  DatasetItemView,
  DatasetList,
  DatasetNamesList,
  DatasetParams,
  DatasetRunDetail,
  DatasetRunItemBody,
  DatasetRunItemList,
  DatasetRunItemView,
  DatasetRunList,
  DatasetView,
  DatasetWithItems,
  ItemParams,
  RolloutList,
  RunParams,
  RunsParams,
  rolloutStates,
  StartedRun,
  WorldRunBody,
} from './dataset.ts';

/** Maximum size in bytes of bodies with inputs and expected outputs of models. */
const bodyBytes = 4.5 * 1024 * 1024;
const schemaBusy = {
  429: 'The project already has the maximum number of datasets, or has used up its time for checking schemas.',
};

export const createDataset = operation({
  id: 'createDataset',
  summary:
    'Create a dataset, or update the one of the same name; fields that are absent or null stay as they are',
  method: 'POST',
  path: '/v2/datasets',
  access: 'write',
  unknown: 'ignored',
  body: DatasetBody,
  answers: { 200: DatasetView },
  refusals: schemaBusy,
});

export const listDatasets = getOperation({
  id: 'listDatasets',
  summary: 'Datasets, newest first',
  path: '/v2/datasets',
  access: 'write',
  unknown: 'ignored',
  query: Type.Object(cursorParams),
  answer: DatasetList,
});

export const getDataset = getOperation({
  id: 'getDataset',
  summary: 'A dataset',
  path: '/v2/datasets/{datasetName}',
  access: 'write',
  unknown: 'ignored',
  params: DatasetParams,
  answer: DatasetView,
});

export const createNamedDataset = operation({
  id: 'createNamedDataset',
  summary: 'Create or update a dataset as `POST /v2/datasets` does, for older clients',
  method: 'POST',
  path: '/datasets',
  access: 'write',
  unknown: 'ignored',
  body: DatasetBody,
  answers: { 200: DatasetWithItems },
  refusals: schemaBusy,
});

export const listNamedDatasets = getOperation({
  id: 'listNamedDatasets',
  summary: 'Datasets with the ids of their items and the names of their runs, for older clients',
  path: '/datasets',
  access: 'write',
  unknown: 'ignored',
  query: Type.Object(cursorParams),
  answer: DatasetNamesList,
});

export const getNamedDataset = getOperation({
  id: 'getNamedDataset',
  summary: 'A dataset with its active items and the names of its runs, for older clients',
  path: '/datasets/{name}',
  access: 'write',
  unknown: 'ignored',
  params: RunsParams,
  answer: DatasetWithItems,
});

export const createDatasetItem = operation({
  id: 'createDatasetItem',
  summary:
    'Create an item, or update the one of the same id; each update makes a new version of the item',
  method: 'POST',
  path: '/dataset-items',
  access: 'write',
  unknown: 'ignored',
  body: DatasetItemBody,
  bodyBytes,
  answers: { 200: DatasetItemView },
  refusals: { 409: 'The id is that of an item of another dataset.' },
});

export const listDatasetItems = getOperation({
  id: 'listDatasetItems',
  summary: 'Active items, newest first; with `datasetName` also as they were at an earlier time',
  path: '/dataset-items',
  access: 'write',
  unknown: 'ignored',
  query: Type.Object({
    ...cursorParams,
    datasetName: Param(),
    sourceTraceId: Param(),
    sourceObservationId: Param(),
    version: Param('a time, only with `datasetName`: the items are returned as they were then'),
    status: Param('status of the items: ACTIVE (the default) or ARCHIVED'),
  }),
  answer: DatasetItemList,
});

export const getDatasetItem = getOperation({
  id: 'getDatasetItem',
  summary: 'The current version of an item, even if the item is archived',
  path: '/dataset-items/{datasetItemId}',
  access: 'write',
  unknown: 'ignored',
  params: ItemParams,
  answer: DatasetItemView,
});

export const deleteDatasetItem = deleteOperation({
  id: 'deleteDatasetItem',
  summary:
    'Delete an item; its earlier versions can still be read by time, and runs keep the versions that they used',
  path: '/dataset-items/{datasetItemId}',
  access: 'write',
  unknown: 'ignored',
  params: ItemParams,
  answer: Done,
});

export const createDatasetRunItem = operation({
  id: 'createDatasetRunItem',
  summary:
    'Link an item to a trace in a run; the first link creates the run, and the trace may be ingested later',
  method: 'POST',
  path: '/dataset-run-items',
  access: 'write',
  unknown: 'ignored',
  body: DatasetRunItemBody,
  answers: { 200: DatasetRunItemView },
});

export const listDatasetRunItems = getOperation({
  id: 'listDatasetRunItems',
  summary: 'The links between items and traces of a run, newest first',
  path: '/dataset-run-items',
  access: 'write',
  unknown: 'ignored',
  query: Type.Object({
    ...cursorParams,
    datasetId: Param('is required'),
    runName: Param('is required'),
  }),
  answer: DatasetRunItemList,
});

export const listDatasetRuns = getOperation({
  id: 'listDatasetRuns',
  summary: 'Runs of a dataset, newest first',
  path: '/datasets/{name}/runs',
  access: 'write',
  unknown: 'ignored',
  params: RunsParams,
  query: Type.Object(cursorParams),
  answer: DatasetRunList,
});

export const getDatasetRun = getOperation({
  id: 'getDatasetRun',
  summary: 'A run with its items',
  path: '/datasets/{name}/runs/{runName}',
  access: 'write',
  unknown: 'ignored',
  params: RunParams,
  answer: DatasetRunDetail,
});

export const deleteDatasetRun = deleteOperation({
  id: 'deleteDatasetRun',
  summary: 'Delete a run with its run items; the traces and scores stay',
  path: '/datasets/{name}/runs/{runName}',
  access: 'write',
  unknown: 'ignored',
  params: RunParams,
  answer: Done,
});

export const startDatasetRun = operation({
  id: 'startDatasetRun',
  summary:
    'Run a dataset on a world: one session for each active item, with a limit of concurrent sessions; an existing run of that name continues',
  method: 'POST',
  path: '/datasets/{name}/runs',
  access: 'write',
  params: RunsParams,
  body: WorldRunBody,
  answers: { 202: StartedRun },
  refusals: {
    409: 'The existing run of this name uses another world, or another build of an agent.',
  },
});

export const listDatasetRunSessions = getOperation({
  id: 'listDatasetRunSessions',
  summary:
    'The items of a run on a world, each with its session and grade, in the order of the items',
  path: '/datasets/{name}/runs/{runName}/sessions',
  access: 'write',
  params: RunParams,
  query: Type.Object(
    {
      state: Type.Optional(oneOf(rolloutStates)),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      cursor: Type.Optional(
        Type.String({ maxLength: 1_000, description: '`meta.nextCursor` of the previous page' }),
      ),
    },
    { additionalProperties: false },
  ),
  answer: RolloutList,
});

export const stopDatasetRun = operation({
  id: 'stopDatasetRun',
  summary:
    'Stop a run on a world: its open sessions are closed, and no more are opened until the run continues',
  method: 'POST',
  path: '/datasets/{name}/runs/{runName}/stop',
  access: 'write',
  params: RunParams,
  answers: { 200: StartedRun },
});
