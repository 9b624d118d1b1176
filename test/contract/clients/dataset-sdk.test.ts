/**
 * Tests unmodified Langfuse SDKs for datasets and queues, on a control plane: a dataset with items, an experiment on it
 * with a score of the run, and a queue whose items are completed.
 */
import { LangfuseClient } from '@langfuse/client';
import { Langfuse } from 'langfuse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});
afterAll(() => control.stop());

const options = () => ({
  baseUrl: control.running.addresses.public[0] ?? '',
  publicKey: control.publicKey,
  secretKey: control.secretKey,
});

describe('the older SDK', () => {
  it('creates a dataset, reads it in full, and links traces before they are sent', async () => {
    const langfuse = new Langfuse(options());
    const name = 'folder of/the older';
    await langfuse.createDataset({ name, description: 'd', metadata: { a: 1 } });
    const inputs = Array.from({ length: 55 }, (_, at) => at);
    for (const input of inputs) {
      await langfuse.createDatasetItem({ datasetName: name, id: `older-${input}`, input });
    }
    const dataset = await langfuse.getDataset(name);
    expect(dataset.items.map(({ input }) => input).sort((a, b) => Number(a) - Number(b))).toEqual(
      inputs,
    );
    const [item] = dataset.items;
    const trace = langfuse.trace({ name: 'linked' });
    await item?.link(trace, 'a run / of it', { description: 'r', metadata: { m: 1 } });
    const runs = await langfuse.getDatasetRuns(name);
    expect(runs.data.map((run) => run.name)).toEqual(['a run / of it']);
    const run = await langfuse.getDatasetRun({ datasetName: name, runName: 'a run / of it' });
    expect(run).toMatchObject({
      ...{ description: 'r', metadata: { m: 1 } },
      datasetRunItems: [{ datasetItemId: item?.id, traceId: trace.id }],
    });
    await langfuse.shutdownAsync();
  });
});

describe('the current SDK', () => {
  it('runs an experiment on a dataset, with a score of the run', async () => {
    const langfuse = new LangfuseClient(options());
    const name = 'folder of/the present';
    await langfuse.api.datasets.create({ name });
    for (const input of [1, 2, 3]) {
      const item = { datasetName: name, input, expectedOutput: input * 2 };
      await langfuse.api.datasetItems.create(item);
    }
    const dataset = await langfuse.dataset.get(name, { fetchItemsPageSize: 2 });
    expect(dataset.items).toHaveLength(3);
    const result = await dataset.runExperiment({
      name: 'doubles',
      task: async ({ input }) => Number(input) * 2,
      runEvaluators: [async () => ({ name: 'mean', value: 1 })],
    });
    expect(result.itemResults.map(({ output }) => output).sort()).toEqual([2, 4, 6]);
    await langfuse.flush();
    const run = await langfuse.api.datasets.getRun(name, result.runName);
    expect(run.datasetRunItems).toHaveLength(3);
    const scores = await control.sql<{ value: number }>(
      'select value from scores where dataset_run_id = $1',
      [run.id],
    );
    expect(scores.map(({ value }) => value)).toEqual([1]);
  });

  it('fills a queue and completes its item', async () => {
    const langfuse = new LangfuseClient(options());
    const config = await langfuse.api.scoreConfigs.create({ name: 'q', dataType: 'NUMERIC' });
    const queues = langfuse.api.annotationQueues;
    const queue = await queues.createQueue({ name: 'odd', scoreConfigIds: [config.id] });
    const item = await queues.createQueueItem(queue.id, { objectId: 't', objectType: 'TRACE' });
    expect((await queues.listQueueItems(queue.id, { status: 'PENDING' })).data).toEqual([item]);
    const done = await queues.updateQueueItem(queue.id, item.id, { status: 'COMPLETED' });
    expect(done.completedAt).not.toBeNull();
    expect((await queues.getQueue(queue.id)).name).toBe('odd');
    expect((await queues.listQueues()).data).toHaveLength(1);
    await queues.deleteQueueItem(queue.id, item.id);
    expect((await queues.listQueueItems(queue.id)).data).toEqual([]);
  });
});
