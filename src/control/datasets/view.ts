/** Datasets, items and runs as they are answered. What clients sent as free JSON goes through as text. */
import type {
  DatasetItemView,
  DatasetRunItemView,
  DatasetRunView,
  DatasetView,
} from '#wire/public-api/dataset.ts';
import type { ItemRow } from '../db/dataset-items.ts';
import type { RunItemRow, RunRow } from '../db/dataset-runs.ts';
import type { DatasetRow } from '../db/datasets.ts';
import { jsonText } from '../json/json-text.ts';

export const viewDataset = (dataset: DatasetRow): DatasetView => ({
  id: dataset.id,
  projectId: dataset.projectId,
  name: dataset.name,
  description: dataset.description,
  metadata: jsonText(dataset.metadata),
  inputSchema: jsonText(dataset.inputSchema),
  expectedOutputSchema: jsonText(dataset.expectedOutputSchema),
  createdAt: dataset.createdAt.toISOString(),
  updatedAt: dataset.updatedAt.toISOString(),
});

export const viewItem = (
  item: ItemRow,
  { projectId, id, name }: Pick<DatasetRow, 'projectId' | 'id' | 'name'>,
): DatasetItemView => ({
  id: item.id,
  projectId,
  datasetId: id,
  datasetName: name,
  status: item.status,
  input: jsonText(item.input),
  expectedOutput: jsonText(item.output),
  metadata: jsonText(item.metadata),
  sourceTraceId: item.sourceTraceId,
  sourceObservationId: item.sourceObservationId,
  createdAt: item.createdAt.toISOString(),
  updatedAt: item.validFrom.toISOString(),
  mediaReferences: [],
});

export const viewRun = (
  run: RunRow,
  { id, name }: Pick<DatasetRow, 'id' | 'name'>,
): DatasetRunView => ({
  id: run.id,
  name: run.name,
  description: run.description,
  metadata: jsonText(run.metadata),
  datasetId: id,
  datasetName: name,
  createdAt: run.createdAt.toISOString(),
  updatedAt: run.updatedAt.toISOString(),
});

export const viewRunItem = (
  item: RunItemRow,
  { id, name }: Pick<RunRow, 'id' | 'name'>,
): DatasetRunItemView => ({
  id: item.id,
  datasetRunId: id,
  datasetRunName: name,
  datasetItemId: item.itemId,
  traceId: item.traceId ?? '',
  observationId: item.observationId,
  createdAt: item.createdAt.toISOString(),
  updatedAt: item.updatedAt.toISOString(),
});
