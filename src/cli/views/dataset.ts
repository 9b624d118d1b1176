/** Datasets, items and runs as a person reads them. */
import type { QueueItemView, QueueView } from '#wire/public-api/annotation.ts';
import type {
  DatasetItemView,
  DatasetRunItemView,
  DatasetRunView,
  DatasetView,
} from '#wire/public-api/dataset.ts';
import { cutLine, formatAgo, formatFields, formatTable } from '../terminal/print.ts';

const shownChars = 60;

const orNone = (lines: readonly string[][], none: string): string =>
  lines.length === 1 ? none : formatTable(lines);

const shortJson = (value: unknown): string =>
  value === null || value === undefined ? '-' : cutLine(JSON.stringify(value), shownChars);

export const listDatasets = (datasets: readonly DatasetView[]): string =>
  orNone(
    [
      ['DATASET', 'DESCRIPTION', 'CHANGED'],
      ...datasets.map(({ name, description, updatedAt }) => [
        ...[cutLine(name, shownChars), cutLine(description ?? '-', shownChars)],
        formatAgo(updatedAt),
      ]),
    ],
    'no datasets; "svc datasets create" makes one',
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

export const listItems = (items: readonly DatasetItemView[]): string =>
  orNone(
    [
      ['ITEM', 'INPUT', 'EXPECTED', 'CHANGED'],
      ...items.map(({ id, input, expectedOutput, updatedAt }) => [
        ...[cutLine(id, shownChars), shortJson(input), shortJson(expectedOutput)],
        formatAgo(updatedAt),
      ]),
    ],
    'no items; "svc datasets items add" adds some',
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

export const listRuns = (runs: readonly DatasetRunView[]): string =>
  orNone(
    [
      ['RUN', 'DESCRIPTION', 'BEGUN', 'ID'],
      ...runs.map(({ name, description, createdAt, id }) => [
        ...[cutLine(name, shownChars), cutLine(description ?? '-', shownChars)],
        ...[formatAgo(createdAt), id],
      ]),
    ],
    'no runs of this dataset',
  );

export const listRunItems = (items: readonly DatasetRunItemView[]): string =>
  orNone(
    [
      ['ITEM', 'TRACE', 'OBSERVATION', 'LINKED'],
      ...items.map(({ datasetItemId, traceId, observationId, createdAt }) => [
        ...[cutLine(datasetItemId, shownChars), traceId === '' ? '-' : traceId],
        ...[observationId ?? '-', formatAgo(createdAt)],
      ]),
    ],
    'nothing in this run',
  );

export const listQueues = (queues: readonly QueueView[]): string =>
  orNone(
    [
      ['QUEUE', 'DESCRIPTION', 'SCORED BY', 'ID'],
      ...queues.map(({ name, description, scoreConfigIds, id }) => [
        ...[cutLine(name, shownChars), cutLine(description ?? '-', shownChars)],
        ...[scoreConfigIds.join(', '), id],
      ]),
    ],
    'no annotation queues; "svc queues create" makes one',
  );

export const describeQueue = (queue: QueueView): string =>
  formatFields([
    ['queue', queue.name],
    ['id', queue.id],
    ['description', queue.description],
    ['scored by', queue.scoreConfigIds.join(', ')],
  ]);

export const listQueueItems = (items: readonly QueueItemView[]): string =>
  orNone(
    [
      ['ITEM', 'STATUS', 'OF', 'OBJECT', 'ADDED'],
      ...items.map(({ id, status, objectType, objectId, createdAt }) => [
        ...[id, status.toLowerCase(), objectType.toLowerCase()],
        ...[cutLine(objectId, shownChars), formatAgo(createdAt)],
      ]),
    ],
    'nothing in this queue',
  );

export const describeQueueItem = (item: QueueItemView): string =>
  formatFields([
    ['item', item.id],
    ['status', item.status.toLowerCase()],
    [item.objectType.toLowerCase(), item.objectId],
    ['completed', item.completedAt],
  ]);
