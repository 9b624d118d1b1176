/** Formats datasets, items and runs for a person. */
import type { QueueItemView, QueueView } from '#wire/public-api/evaluation/annotation.ts';
import type {
  DatasetItemView,
  DatasetRunItemView,
  DatasetRunView,
  DatasetView,
} from '#wire/public-api/evaluation/dataset.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const jsonChars = 120;

const shortJson = (value: unknown): string =>
  value === null || value === undefined ? '-' : cutLine(JSON.stringify(value), jsonChars);

export const listDatasets = (datasets: readonly DatasetView[], view: View): string =>
  formatFitted(
    ['DATASET', 'DESCRIPTION', 'CHANGED'],
    datasets.map(({ name, description, updatedAt }) => [
      ...[name, cutLine(description ?? '-')],
      formatAgo(updatedAt),
    ]),
    view,
    { none: 'no datasets; "svc datasets create" makes one', cut: ['DESCRIPTION'] },
  );

export const describeDataset = (dataset: DatasetView): string =>
  formatFields([
    ['dataset', dataset.name],
    ['id', dataset.id],
    ['description', dataset.description],
    ['metadata', dataset.metadata === null ? null : JSON.stringify(dataset.metadata)],
    ['input schema', dataset.inputSchema === null ? null : shortJson(dataset.inputSchema)],
    [
      'expected output schema',
      dataset.expectedOutputSchema === null ? null : shortJson(dataset.expectedOutputSchema),
    ],
  ]);

export const listItems = (items: readonly DatasetItemView[], view: View): string =>
  formatFitted(
    ['ITEM', 'INPUT', 'EXPECTED', 'CHANGED'],
    items.map(({ id, input, expectedOutput, updatedAt }) => [
      ...[id, shortJson(input), shortJson(expectedOutput)],
      formatAgo(updatedAt),
    ]),
    view,
    { none: 'no items; "svc datasets items add" adds some', cut: ['INPUT', 'EXPECTED'] },
  );

export const describeItem = (item: DatasetItemView): string =>
  formatFields([
    ['item', item.id],
    ['dataset', item.datasetName],
    ['status', item.status],
    ['input', JSON.stringify(item.input)],
    ['expected output', JSON.stringify(item.expectedOutput)],
    ['metadata', JSON.stringify(item.metadata)],
    ['source trace', item.sourceTraceId],
    ['source observation', item.sourceObservationId],
    ['version', item.updatedAt],
  ]);

export const listRuns = (runs: readonly DatasetRunView[], view: View): string =>
  formatFitted(
    ['RUN', 'DESCRIPTION', 'BEGUN', 'ID'],
    runs.map(({ name, description, createdAt, id }) => [
      ...[name, cutLine(description ?? '-')],
      ...[formatAgo(createdAt), id],
    ]),
    view,
    { none: 'no runs of this dataset', cut: ['DESCRIPTION'] },
  );

export const listRunItems = (items: readonly DatasetRunItemView[], view: View): string =>
  formatFitted(
    ['ITEM', 'TRACE', 'OBSERVATION', 'LINKED'],
    items.map(({ datasetItemId, traceId, observationId, createdAt }) => [
      ...[datasetItemId, traceId === '' ? '-' : traceId],
      ...[observationId ?? '-', formatAgo(createdAt)],
    ]),
    view,
    { none: 'this run has no items', cut: ['INPUT', 'EXPECTED'] },
  );

export const listQueues = (queues: readonly QueueView[], view: View): string =>
  formatFitted(
    ['QUEUE', 'DESCRIPTION', 'SCORED BY', 'ID'],
    queues.map(({ name, description, scoreConfigIds, id }) => [
      ...[name, cutLine(description ?? '-')],
      ...[scoreConfigIds.join(', '), id],
    ]),
    view,
    { none: 'no annotation queues; "svc queues create" makes one', cut: ['DESCRIPTION'] },
  );

export const describeQueue = (queue: QueueView): string =>
  formatFields([
    ['queue', queue.name],
    ['id', queue.id],
    ['description', queue.description],
    ['scored by', queue.scoreConfigIds.join(', ')],
  ]);

export const listQueueItems = (items: readonly QueueItemView[], view: View): string =>
  formatFitted(
    ['ITEM', 'STATUS', 'OF', 'OBJECT', 'ADDED'],
    items.map(({ id, status, objectType, objectId, createdAt }) => [
      ...[id, status.toLowerCase(), objectType.toLowerCase()],
      ...[objectId, formatAgo(createdAt)],
    ]),
    view,
    { none: 'this queue has no items', cut: ['INPUT', 'EXPECTED'] },
  );

export const describeQueueItem = (item: QueueItemView): string =>
  formatFields([
    ['item', item.id],
    ['status', item.status.toLowerCase()],
    [item.objectType.toLowerCase(), item.objectId],
    ['completed', item.completedAt],
  ]);
