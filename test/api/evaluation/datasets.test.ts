/** Tests datasets: names, items and their versions, schemas, and runs that come before their traces. */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;

type Body = {
  [member: string]: unknown;
  id: string;
  updatedAt: string;
  data: { [member: string]: unknown; id: string; updatedAt: string }[];
  meta: { totalItems: number; nextCursor?: string };
};

const ask = async (method: string, path: string, body?: object) => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const answer = await createAsker(control)(method, path, {
    as,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: answer.body as Body };
};

const must = async (method: string, path: string, body?: object): Promise<Body> => {
  const answer = await ask(method, path, body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const dataset = (name: string, more: object = {}) =>
  must('POST', '/v2/datasets', { name, ...more });
const item = (datasetName: string, more: object) =>
  must('POST', '/dataset-items', { datasetName, ...more });
const itemsOf = async (query: string) => (await must('GET', `/dataset-items?${query}`)).data;
const inputsOf = async (query: string) => (await itemsOf(query)).map(({ input }) => input);

beforeAll(async () => {
  control = await shareControl();
});

describe('a dataset', () => {
  it('is created once by its name, and an update leaves absent and null fields unchanged', async () => {
    const made = await dataset('first', { description: 'd', metadata: { a: 1 } });
    expect(made).toMatchObject({
      ...{ name: 'first', description: 'd', metadata: { a: 1 } },
      ...{ inputSchema: null, expectedOutputSchema: null },
    });
    const again = await dataset('first', { description: null, metadata: [2] });
    expect(again).toMatchObject({ id: made.id, description: 'd', metadata: [2] });
    expect(await must('GET', '/v2/datasets/first')).toEqual(again);
    expect(await must('GET', '/datasets/first')).toEqual({ ...again, items: [], runs: [] });
    expect(await must('POST', '/datasets', { name: 'first' })).toMatchObject({
      ...{ id: made.id, items: [], runs: [] },
    });
  });

  it.each(['folder/in it', 'a b', '100%', 'über/ä', "it's & more?", '..'])(
    'is found by its name in an address, escaped once or twice: %s',
    async (name) => {
      const { id } = await dataset(name);
      await item(name, { input: name });
      const once = encodeURIComponent(name);
      for (const written of [once, encodeURIComponent(once)]) {
        // A segment of dots alone would be a path step.
        const path = name === '..' ? '/v2/datasets/%252E%252E' : `/v2/datasets/${written}`;
        expect((await must('GET', path)).id).toBe(id);
        expect(await inputsOf(`datasetName=${written}`)).toEqual([name]);
      }
    },
  );

  it.each([
    ['', 'must not be empty'],
    ['   ', 'must not be empty'],
    ['/a', 'slash'],
    ['a/', 'slash'],
    ['a//b', 'slash'],
    ['<b>x</b>', 'HTML'],
    ['a\0b', 'control'],
    ['x'.repeat(501), '500'],
  ])('refuses the name %j', async (name, reason) => {
    const { status, body } = await ask('POST', '/v2/datasets', { name });
    expect([status, body.error]).toEqual([
      400,
      [{ path: ['name'], message: expect.stringContaining(reason) }],
    ]);
  });

  it('is not found by an unknown name', async () => {
    for (const path of ['/v2/datasets/none', '/datasets/none', '/datasets/none/runs']) {
      expect(await ask('GET', path)).toMatchObject({
        status: 404,
        body: { message: 'Dataset not found' },
      });
    }
    expect((await ask('POST', '/dataset-items', { datasetName: 'none' })).status).toBe(404);
    expect((await ask('GET', '/dataset-items?datasetName=none')).status).toBe(404);
  });
});

describe('a dataset item', () => {
  it('keeps absent and null fields, and starts a version when it changes', async () => {
    await dataset('versions');
    const first = await item('versions', { id: 'v', input: { a: [1, null] }, sourceTraceId: 't' });
    expect(first).toMatchObject({
      ...{ id: 'v', status: 'ACTIVE', input: { a: [1, null] }, expectedOutput: null },
      ...{ sourceTraceId: 't', sourceObservationId: null, mediaReferences: [] },
    });
    expect(await item('versions', { id: 'v', input: null })).toEqual(first);
    const second = await item('versions', { id: 'v', expectedOutput: 'x' });
    expect(second).toMatchObject({ input: { a: [1, null] }, expectedOutput: 'x' });
    expect(second.updatedAt > first.updatedAt).toBe(true);
    expect(second.createdAt).toBe(first.createdAt);

    const outputAt = async (version: string) =>
      (await itemsOf(`datasetName=versions&version=${version}`)).map((one) => one.expectedOutput);
    expect(await outputAt(first.updatedAt)).toEqual([null]);
    expect(await outputAt(second.updatedAt)).toEqual(['x']);
    expect(await outputAt('2001-01-01T00:00:00Z')).toEqual([]);

    await must('DELETE', '/dataset-items/v');
    expect((await ask('GET', '/dataset-items/v')).status).toBe(404);
    expect((await ask('DELETE', '/dataset-items/v')).status).toBe(404);
    expect(await itemsOf('datasetName=versions')).toEqual([]);
    expect(await outputAt(second.updatedAt)).toEqual(['x']);

    const third = await item('versions', { id: 'v', input: 3 });
    expect(third).toMatchObject({ input: 3, expectedOutput: null, sourceTraceId: null });
    expect(await inputsOf('datasetName=versions')).toEqual([3]);
    expect((await must('GET', '/dataset-items?datasetName=versions')).meta.totalItems).toBe(1);
  });

  it('is in no list once it is archived, but can still be read', async () => {
    await dataset('archive');
    await item('archive', { id: 'old', input: 1 });
    await item('archive', { id: 'old', status: 'ARCHIVED' });
    expect(await itemsOf('datasetName=archive')).toEqual([]);
    expect((await must('GET', '/dataset-items?datasetName=archive')).meta.totalItems).toBe(0);
    expect(await must('GET', '/dataset-items/old')).toMatchObject({ status: 'ARCHIVED', input: 1 });
    expect(await inputsOf('datasetName=archive&status=ARCHIVED')).toEqual([1]);
    const link = { runName: 'r', datasetItemId: 'old', traceId: 't' };
    expect((await ask('POST', '/dataset-run-items', link)).status).toBe(404);
  });

  it('is found by its source trace or observation', async () => {
    await dataset('sources');
    await item('sources', { id: 's1', input: 1, sourceTraceId: 'of-trace' });
    await item('sources', { id: 's2', input: 2, sourceObservationId: 'of/observation' });
    expect(await inputsOf('sourceTraceId=of-trace')).toEqual([1]);
    expect(await inputsOf('sourceObservationId=of%2Fobservation')).toEqual([2]);
    expect(await inputsOf('datasetName=sources&sourceTraceId=other')).toEqual([]);
  });

  it('belongs to one dataset', async () => {
    await dataset('mine');
    await dataset('yours');
    await item('mine', { id: 'one' });
    const moved = await ask('POST', '/dataset-items', { datasetName: 'yours', id: 'one' });
    expect(moved.status).toBe(409);
  });

  it('is stored once when several requests write it at the same time', async () => {
    await dataset('crowd');
    const writes = Array.from({ length: 12 }, (_, turn) =>
      ask('POST', '/dataset-items', { datasetName: 'crowd', id: `c${turn % 2}`, input: turn }),
    );
    const statuses = new Set((await Promise.all(writes)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect((await must('GET', '/dataset-items?datasetName=crowd')).meta.totalItems).toBe(2);
    const open = await control.sql(
      `select 1 from dataset_items where id ~ '^c\\d$' and valid_to is null`,
    );
    expect(open).toHaveLength(2);
  });

  it.each([
    [{ status: 'GONE' }, 'status'],
    [{ id: 'x'.repeat(801) }, 'id'],
    [{ id: 7 }, 'id'],
    [{ sourceTraceId: {} }, 'sourceTraceId'],
  ])('is refused, and the error names the invalid field: %j', async (more, field) => {
    await dataset('refusals');
    const { status, body } = await ask('POST', '/dataset-items', {
      datasetName: 'refusals',
      ...more,
    });
    expect([status, body.error]).toMatchObject([400, [{ path: [field] }]]);
  });

  it('stores any JSON value, and ignores unknown members', async () => {
    await dataset('hostile');
    const hostile = JSON.parse('{"toString": {"a": 1}, "nul": "\\u0000", "half": "\\ud800"}');
    const id = `${'i'.repeat(790)}/ é?`;
    const made = await item('hostile', { id, input: hostile, expectedOutput: false, other: 1 });
    expect(JSON.stringify(made.input)).toBe(JSON.stringify(hostile));
    expect(made.expectedOutput).toBe(false);
    expect(await must('GET', `/dataset-items/${encodeURIComponent(id)}`)).toEqual(made);
  });

  it('cannot be listed by an invalid query', async () => {
    for (const query of [
      'version=2026-01-01T00:00:00Z',
      'datasetName=hostile&version=now',
      'page=0',
      'limit=101',
      'cursor=x',
      'status=NONE',
      'page=2&cursor=x',
    ]) {
      expect([query, (await ask('GET', `/dataset-items?${query}`)).status]).toEqual([query, 400]);
    }
  });

  it('is never dropped from a page that would be too large: the request for the page is refused instead', async () => {
    await dataset('heavy');
    for (const id of ['h1', 'h2', 'h3', 'h4']) await item('heavy', { id, input: 'short' });
    await control.sql(
      `update dataset_items set input = '"' || repeat('x', 4500000) || '"' where id ~ '^h\\d$'`,
    );
    const { status, body } = await ask('GET', '/dataset-items?datasetName=heavy');
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining('set "limit" to 3 or less'),
    ]);
    expect(await itemsOf('datasetName=heavy&limit=3')).toHaveLength(3);
  });
});

describe('the schema of a dataset', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { question: { $ref: '#/$defs/Text' } },
    required: ['question'],
    $defs: { Text: { type: 'string', minLength: 1 } },
  };

  it('is enforced on active items', async () => {
    await dataset('held', { inputSchema: schema, expectedOutputSchema: { type: 'number' } });
    await item('held', { id: 'fits', input: { question: 'q' }, expectedOutput: 1 });
    await item('held', { id: 'open', input: { question: 'q' } });
    const wrong = await ask('POST', '/dataset-items', {
      ...{ datasetName: 'held', id: 'fits' },
      ...{ input: { question: '' }, expectedOutput: 'one' },
    });
    expect([wrong.status, wrong.body]).toMatchObject([
      400,
      {
        message: expect.stringContaining('Dataset item validation failed: input.question'),
        error: [{ path: ['input', 'question'] }, { path: ['expectedOutput'] }],
      },
    ]);
    expect((await ask('POST', '/dataset-items', { datasetName: 'held' })).status).toBe(400);
    expect((await must('GET', '/dataset-items/fits')).expectedOutput).toBe(1);
    await item('held', { id: 'draft', input: 5, status: 'ARCHIVED' });
    const woken = await ask('POST', '/dataset-items', {
      datasetName: 'held',
      id: 'draft',
      status: 'ACTIVE',
    });
    expect(woken.status).toBe(400);
  });

  it('is refused while existing items violate it, and the error names these items', async () => {
    await dataset('late');
    for (let at = 0; at < 12; at += 1) await item('late', { id: `late-${at}`, input: at });
    await item('late', { id: 'late-good', input: { question: 'q' } });
    const { status, body } = await ask('POST', '/v2/datasets', {
      name: 'late',
      inputSchema: schema,
    });
    expect(status).toBe(400);
    expect(body.error).toHaveLength(10);
    expect((await must('GET', '/v2/datasets/late')).inputSchema).toBeNull();
    for (let at = 0; at < 12; at += 1) await must('DELETE', `/dataset-items/late-${at}`);
    expect((await dataset('late', { inputSchema: schema })).inputSchema).toEqual(schema);
    expect((await dataset('late', { inputSchema: null })).inputSchema).toEqual(schema);
    expect((await dataset('late', { inputSchema: {} })).inputSchema).toBeNull();
  });

  it.each([
    [{ type: 'wrong' }],
    [{ typ: 'string' }],
    [7],
    [{ $ref: 'https://example.com/x' }],
    [{ pattern: '(a)\\1' }],
    [{ $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } }],
  ])('is refused if it is invalid or unsupported: %j', async (inputSchema) => {
    const { status, body } = await ask('POST', '/v2/datasets', { name: 'bad', inputSchema });
    expect([status, body.error]).toEqual([
      400,
      expect.arrayContaining([
        expect.objectContaining({ path: expect.arrayContaining(['inputSchema']) }),
      ]),
    ]);
    expect((await ask('GET', '/v2/datasets/bad')).status).toBe(404);
  });

  it('of an older dialect can have local definitions', async () => {
    const written = { $ref: '#/definitions/N', definitions: { N: { type: 'number' } } };
    await dataset('older', { inputSchema: written });
    await item('older', { input: 1 });
    expect((await ask('POST', '/dataset-items', { datasetName: 'older', input: 'x' })).status).toBe(
      400,
    );
  });

  it('that takes too long to check causes the item to be refused', async () => {
    await dataset('slow', {
      inputSchema: { type: 'array', items: { pattern: '(?:a{0,100}){0,9}b' }, uniqueItems: true },
    });
    const input = Array.from({ length: 20_000 }, (_, at) => `${'a'.repeat(100)}${at}`);
    const slow = await ask('POST', '/dataset-items', { datasetName: 'slow', input });
    expect(slow.status).toBe(400);
  });
});

describe('a dataset run', () => {
  it('is created by its first link, and later links reuse it', async () => {
    const { id: datasetId } = await dataset('folder/runs');
    await item('folder/runs', { id: 'r1', input: 1 });
    await item('folder/runs', { id: 'r2', input: 2 });
    const link = (more: object) =>
      must('POST', '/dataset-run-items', { runName: 'run / one', traceId: 'not-yet', ...more });
    const first = await link({ datasetItemId: 'r1', runDescription: 'd', metadata: { m: 1 } });
    expect(first).toMatchObject({
      ...{ datasetRunName: 'run / one', datasetItemId: 'r1' },
      ...{ traceId: 'not-yet', observationId: null },
    });
    expect(await link({ datasetItemId: 'r1', runDescription: null })).toMatchObject({
      id: first.id,
      datasetRunId: first.datasetRunId,
    });
    const second = await link({ datasetItemId: 'r2', observationId: 'o', datasetVersion: null });
    expect(second.datasetRunId).toBe(first.datasetRunId);

    const runs = await must('GET', '/datasets/folder%2Fruns/runs');
    expect(runs.data).toMatchObject([
      { id: first.datasetRunId, name: 'run / one', description: 'd', metadata: { m: 1 } },
    ]);
    const path = '/datasets/folder%252Fruns/runs/run%20%2F%20one';
    expect(await must('GET', '/datasets/folder%2Fruns/runs/run%20/%20one')).toEqual(
      await must('GET', path),
    );
    expect(await must('GET', '/v2/datasets/folder/runs')).toMatchObject({ name: 'folder/runs' });
    const run = await must('GET', path);
    expect(run.datasetRunItems).toHaveLength(2);
    const query = `datasetId=${datasetId}&runName=run%20%2F%20one`;
    const links = await must('GET', `/dataset-run-items?${query}`);
    expect(links.data).toEqual(run.datasetRunItems);
    expect(links.meta.totalItems).toBe(2);

    const score = await must('POST', '/scores', {
      ...{ name: 'mean', value: 0.5, datasetRunId: first.datasetRunId },
    });
    const found = await must('GET', `/v2/scores?datasetRunId=${first.datasetRunId}`);
    expect(found.data.map(({ id }) => id)).toEqual([score.id]);

    await must('DELETE', path);
    expect((await ask('GET', path)).status).toBe(404);
    expect((await ask('GET', `/dataset-run-items?${query}`)).status).toBe(404);
    expect((await must('GET', '/datasets/folder%2Fruns/runs')).data).toEqual([]);
  });

  it('has the trace of a linked observation, even if the observation arrives after the link', async () => {
    const { id: datasetId } = await dataset('observed');
    await item('observed', { id: 'seen' });
    const link = { runName: 'r', datasetItemId: 'seen', observationId: 'comes-later' };
    expect((await must('POST', '/dataset-run-items', link)).traceId).toBe('');
    const event = {
      ...{ id: 'e1', type: 'span-create', timestamp: new Date().toISOString() },
      body: { id: 'comes-later', traceId: 'its-trace' },
    };
    await ask('POST', '/ingestion', { batch: [event] });
    const { data } = await must('GET', `/dataset-run-items?datasetId=${datasetId}&runName=r`);
    expect(data.map(({ traceId }) => traceId)).toEqual(['its-trace']);
  });

  it('links the version that an item had at a given time', async () => {
    await dataset('then');
    const before = await item('then', { id: 'was', input: 1 });
    await item('then', { id: 'was', status: 'ARCHIVED' });
    const link = { runName: 'r', datasetItemId: 'was', traceId: 't' };
    expect((await ask('POST', '/dataset-run-items', link)).status).toBe(404);
    await must('POST', '/dataset-run-items', { ...link, datasetVersion: before.updatedAt });
  });

  it.each([
    [{ datasetItemId: 'r1', runName: 'x' }, 400],
    [{ datasetItemId: 'none', runName: 'x', traceId: 't' }, 404],
    [{ datasetItemId: 'r1', runName: '', traceId: 't' }, 400],
    [{ datasetItemId: 'r1', traceId: 't' }, 400],
    [{ datasetItemId: 'r1', runName: 'x', traceId: 't', datasetVersion: 'now' }, 400],
  ])('is not created by %j', async (link, status) => {
    expect((await ask('POST', '/dataset-run-items', link)).status).toBe(status);
  });

  it('is listed only if the request has both the dataset id and the run name', async () => {
    for (const query of ['', '?datasetId=x', '?runName=x']) {
      expect((await ask('GET', `/dataset-run-items${query}`)).status).toBe(400);
    }
    expect((await ask('GET', '/dataset-run-items?datasetId=x&runName=x')).status).toBe(404);
  });
});
