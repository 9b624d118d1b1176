/** Builds the client's views of datasets, items and runs. JSON of clients is passed on as text, unparsed. */
import type {
  DatasetItemView,
  DatasetRunItemView,
  DatasetRunView,
  DatasetView,
  MediaReference,
} from '#wire/public-api/evaluation/dataset.ts';
import { jsonText } from '../../base/json/json-text.ts';
import type { ItemRow } from '../../db/evaluation/dataset-items.ts';
import type { RunItemRow, RunRow } from '../../db/evaluation/dataset-runs.ts';
import type { DatasetRow } from '../../db/evaluation/datasets.ts';
import {
  type FindMedia,
  type FoundReference,
  type KnownMedia,
  referencesIn,
} from './media-references.ts';

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

const mediaFields = [
  ['input', 'input'],
  ['expectedOutput', 'output'],
  ['metadata', 'metadata'],
] as const;

type References = (FoundReference & Pick<MediaReference, 'field'>)[];

const viewItem = (
  { item, dataset: { projectId, id, name } }: ShownItem,
  references: References,
  media: ReadonlyMap<string, KnownMedia>,
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
  mediaReferences: references.flatMap(({ mediaId, ...reference }) => {
    const known = media.get(mediaId);
    return known === undefined ? [] : [{ ...reference, media: known }];
  }),
});

/** Item with its dataset. */
export type ShownItem = { item: ItemRow; dataset: Pick<DatasetRow, 'projectId' | 'id' | 'name'> };

/** Returns the client's views of items of one project, with the media that they refer to. */
export const viewItems = async (
  items: readonly ShownItem[],
  findMedia: FindMedia,
): Promise<DatasetItemView[]> => {
  const found = items.map(({ item }) =>
    mediaFields.flatMap(([field, member]) =>
      referencesIn(item[member]).map((reference) => ({ field, ...reference })),
    ),
  );
  const [first] = items;
  const ids = [...new Set(found.flat().map(({ mediaId }) => mediaId))];
  const media =
    first === undefined || ids.length === 0
      ? new Map<string, KnownMedia>()
      : await findMedia(first.dataset.projectId, ids);
  return items.map((shown, at) => viewItem(shown, found[at] ?? [], media));
};

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
