/**
 * Tests unmodified Langfuse SDKs for models, metrics and comments, on a control plane: two SDKs for JavaScript, and the
 * current one for Python.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LangfuseClient } from '@langfuse/client';
import { Langfuse } from 'langfuse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';
import { findPythonWith } from './packages.ts';

const run = promisify(execFile);
const python = await findPythonWith(
  'langfuse-4',
  join(import.meta.dirname, 'python/with_langfuse_reads.py'),
);

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

const dayMs = 86_400_000;
const asked = (view: string) =>
  JSON.stringify({
    view,
    metrics: [
      { measure: 'count', aggregation: 'count' },
      { measure: 'totalCost', aggregation: 'sum' },
    ],
    dimensions: [{ field: 'name' }],
    filters: [],
    timeDimension: null,
    fromTimestamp: new Date(Date.now() - dayMs).toISOString(),
    toTimestamp: new Date(Date.now() + dayMs).toISOString(),
  });

describe('the older SDK', () => {
  it('creates a model, reads its costs and metrics, and comments', async () => {
    const langfuse = new Langfuse(options());
    const { api } = langfuse;
    const model = await api.modelsCreate({
      ...{ modelName: 'older', matchPattern: '^older$', unit: 'TOKENS' },
      ...{ inputPrice: 0.5, outputPrice: 1 },
    });
    expect(model).toMatchObject({ inputPrice: 0.5, isLangfuseManaged: false });
    // The list is sorted by name, and the built-in models fill more than a page.
    const pages = await Promise.all([1, 2].map((page) => api.modelsList({ page, limit: 100 })));
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toContain(model.id);
    const trace = langfuse.trace({ name: 'of the older' });
    trace.generation({ name: 'g', model: 'older', usageDetails: { input: 2, output: 3 } }).end();
    await langfuse.flushAsync();
    const { data } = await api.metricsMetrics({ query: asked('traces') });
    expect(data).toEqual([{ name: 'of the older', count_count: 1, sum_totalCost: 4 }]);
    const on = { objectType: 'TRACE', objectId: trace.id };
    const { id } = await api.commentsCreate({
      ...{ ...on, projectId: await projectIdOf(control), content: 'c' },
    });
    expect((await api.commentsGet(on)).data).toEqual([await api.commentsGetById(id)]);
    await langfuse.shutdownAsync();
  });
});

describe('the current SDK', () => {
  it('creates a model with tiers, reads metrics, and comments', async () => {
    const { api } = new LangfuseClient(options());
    const model = await api.models.create({
      ...{ modelName: 'present', matchPattern: '^present$', unit: 'TOKENS' as const },
      pricingTiers: [
        { name: 'usual', isDefault: true, priority: 0, conditions: [], prices: { input: 1 } },
        {
          ...{ name: 'large', isDefault: false, priority: 1, prices: { input: 2 } },
          conditions: [
            {
              ...{ usageDetailPattern: '^input', operator: 'gt', value: 100 },
              caseSensitive: false,
            },
          ],
        },
      ],
    });
    expect((await api.models.get(model.id)).pricingTiers).toHaveLength(2);
    expect((await api.models.list({ limit: 1 })).meta.totalItems).toBeGreaterThan(20);
    const { data } = await api.metrics.metrics({ query: asked('observations') });
    expect(data).toEqual([{ name: 'g', count_count: 1, sum_totalCost: 4 }]);
    const on = { objectType: 'SESSION', objectId: 's' } as const;
    const projectId = await projectIdOf(control);
    const { id } = await api.comments.create({ ...on, projectId, content: 'c' });
    expect((await api.comments.get(on)).data.map((one) => one.id)).toEqual([id]);
    await api.models.delete(model.id);
  });
});

describe('the SDK for Python', () => {
  it.skipIf('missing' in python)('creates a model, reads metrics, and comments', async () => {
    if ('missing' in python) return;
    const { baseUrl, publicKey, secretKey } = options();
    const env = {
      ...python.env,
      ...{ LANGFUSE_BASE_URL: baseUrl, LANGFUSE_HOST: baseUrl },
      ...{ LANGFUSE_PUBLIC_KEY: publicKey, LANGFUSE_SECRET_KEY: secretKey },
    };
    const { stdout } = await run(python.command, python.args, { env });
    expect(Number(stdout.trim().split('\n').at(-1))).toBe(5);
  });
});
