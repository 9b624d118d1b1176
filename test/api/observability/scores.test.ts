/** Tests scores and their configs: validated, filtered, replaced and deleted. */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;

type Body = { [member: string]: unknown; id: string; data: { id: string }[]; meta: object };

const ask = async (method: string, path: string, body?: unknown, authorization?: string) => {
  const answer = await control.raw({
    method,
    path: `/api/public${path}`,
    headers: {
      authorization: authorization ?? basicAuthorization(control.publicKey, control.secretKey),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: answer.body as Body };
};

const put = async (body: object): Promise<string> => {
  const answer = await ask('POST', '/scores', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.id;
};

const configure = async (body: object): Promise<string> => {
  const answer = await ask('POST', '/score-configs', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.id;
};

const idsOf = async (path: string): Promise<string[]> => {
  const { status, body } = await ask('GET', path);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data.map(({ id }) => id);
};

beforeAll(async () => {
  control = await shareControl();
});

describe('a score', () => {
  it.each([
    [{ value: 0.5 }, { dataType: 'NUMERIC', value: 0.5 }],
    [{ value: 'good' }, { dataType: 'CATEGORICAL', stringValue: 'good', value: 0 }],
    [
      { value: 1, dataType: 'BOOLEAN' },
      { dataType: 'BOOLEAN', value: 1, stringValue: 'True' },
    ],
    [{ value: false }, { dataType: 'BOOLEAN', value: 0, stringValue: 'False' }],
    [
      { value: 'words', dataType: 'TEXT' },
      { dataType: 'TEXT', stringValue: 'words' },
    ],
    [
      { value: 'right', dataType: 'CORRECTION' },
      { dataType: 'CORRECTION', name: 'output' },
    ],
    [{ value: 1, metadata: null, comment: null, configId: null, id: null }, { metadata: {} }],
    [
      { value: 1, observationId: 'o', environment: 'Prod' },
      { observationId: 'o', environment: 'prod' },
    ],
  ])('gets its type from its value or from the request: %j', async (given, view) => {
    const id = await put({ name: 'n', traceId: 'typed', ...given });
    const { status, body } = await ask('GET', `/scores/${id}`);
    expect([status, body]).toMatchObject([
      200,
      { id, name: 'n', source: 'API', traceId: 'typed', ...view },
    ]);
    expect((await ask('GET', `/v2/scores/${id}`)).body).toEqual(body);
  });

  it.each([
    [{ value: 1 }, 'traceId'],
    [{ value: 1, traceId: 't', sessionId: 's' }, 'traceId'],
    [{ value: 1, sessionId: 's', observationId: 'o' }, 'observationId'],
    [{ value: 1, traceId: 't', name: '' }, 'name'],
    [{ traceId: 't' }, 'value'],
    [{ value: {}, traceId: 't' }, 'value'],
    [{ value: 2, dataType: 'BOOLEAN', traceId: 't' }, 'value'],
    [{ value: 'x', dataType: 'NUMERIC', traceId: 't' }, 'value'],
    [{ value: 1, dataType: 'CATEGORICAL', traceId: 't' }, 'value'],
    [{ value: 'x'.repeat(501), dataType: 'TEXT', traceId: 't' }, 'value'],
    [{ value: 1, dataType: 'OTHER', traceId: 't' }, 'dataType'],
    [{ value: 1, configId: 'none', traceId: 't' }, 'configId'],
    [{ value: 1, source: 'ANNOTATION', traceId: 't' }, 'configId'],
    [{ value: 'x', dataType: 'CORRECTION', sessionId: 's' }, 'traceId'],
  ])('is refused with the name of the invalid field: %j', async (given, field) => {
    const { status, body } = await ask('POST', '/scores', { name: 'n', ...given });
    expect([status, body.error]).toEqual([400, [{ path: [field], message: expect.any(String) }]]);
  });

  it.each(['1e999', '-1e999', '1e308'])(
    'is refused when its number is too large to add up, and so are limits of configs: %s',
    async (number) => {
      const send = (path: string, body: string) =>
        control.raw({
          method: 'POST',
          path: `/api/public${path}`,
          headers: {
            authorization: basicAuthorization(control.publicKey, control.secretKey),
            'content-type': 'application/json',
          },
          body,
        });
      const refusedAt = (field: string) => ({
        status: 400,
        body: { error: [{ path: [field], message: expect.any(String) }] },
      });
      const score = `{"name":"n","traceId":"edge","value":${number}}`;
      expect(await send('/scores', score)).toMatchObject(refusedAt('value'));
      const batch = `{"batch":[{"id":"edge","type":"score-create","timestamp":"2026-01-01T00:00:00Z","body":${score}}]}`;
      expect(await send('/ingestion', batch)).toMatchObject({
        body: { successes: [], errors: [{ id: 'edge', status: 400 }] },
      });
      const least = `{"name":"edge","dataType":"NUMERIC","minValue":${number}}`;
      expect(await send('/score-configs', least)).toMatchObject(refusedAt('minValue'));
      const categories = `[{"label":"a","value":${number}}]`;
      const words = `{"name":"edge","dataType":"CATEGORICAL","categories":${categories}}`;
      expect(await send('/score-configs', words)).toMatchObject(refusedAt('categories'));
    },
  );

  it('is replaced by a later score with the same id, and can be deleted', async () => {
    await put({ id: 'mine', name: 'n', traceId: 'replaced', value: 1 });
    await put({ id: 'mine', name: 'n', traceId: 'replaced', value: 2 });
    expect(await idsOf('/scores?traceId=replaced')).toEqual(['mine']);
    expect((await ask('GET', '/scores/mine')).body.value).toBe(2);
    expect((await ask('DELETE', '/scores/mine')).status).toBe(202);
    expect((await ask('GET', '/scores/mine')).status).toBe(404);
    expect((await ask('DELETE', '/scores/mine')).status).toBe(404);
  });

  it('can be written with the public key alone, which cannot read it', async () => {
    const bearer = `Bearer ${control.publicKey}`;
    const answer = await ask('POST', '/scores', { name: 'n', traceId: 'open', value: 1 }, bearer);
    expect(answer.status).toBe(200);
    expect((await ask('GET', `/scores/${answer.body.id}`, undefined, bearer)).status).toBe(403);
  });
});

describe('a score config', () => {
  it('is enforced on scores at once', async () => {
    const numeric = await configure({
      name: 'quality',
      dataType: 'NUMERIC',
      minValue: 0,
      maxValue: 1,
    });
    const words = await configure({
      name: 'tone',
      dataType: 'CATEGORICAL',
      categories: [
        { label: 'good', value: 1 },
        { label: 'bad', value: 0 },
      ],
    });
    const toned = await put({ name: 'tone', traceId: 'held', value: 'good', configId: words });
    expect((await ask('GET', `/scores/${toned}`)).body).toMatchObject({
      value: 1,
      stringValue: 'good',
    });
    await put({
      name: 'quality',
      traceId: 'held',
      value: 1,
      configId: numeric,
      source: 'ANNOTATION',
    });
    for (const [given, field] of [
      [{ name: 'quality', value: 1.1, configId: numeric }, 'value'],
      [{ name: 'quality', value: -1, configId: numeric }, 'value'],
      [{ name: 'quality', value: 1, dataType: 'BOOLEAN', configId: numeric }, 'dataType'],
      [{ name: 'tone', value: 'fine', configId: words }, 'value'],
    ] as const) {
      const { status, body } = await ask('POST', '/scores', { traceId: 'held', ...given });
      expect([status, body.error]).toMatchObject([400, [{ path: [field] }]]);
    }
    const renamed = await put({ name: 'other', traceId: 'held', value: 1, configId: numeric });
    expect((await ask('GET', `/scores/${renamed}`)).body).toMatchObject({
      name: 'quality',
      value: 1,
    });
    await ask('PATCH', `/score-configs/${words}`, { isArchived: true });
    const archived = { name: 'tone', traceId: 'held', value: 'good', configId: words };
    expect((await ask('POST', '/scores', archived)).status).toBe(400);
    const { body } = await ask('POST', '/ingestion', {
      batch: [
        { id: 'e1', type: 'score-create', timestamp: new Date().toISOString(), body: archived },
      ],
    });
    expect(body.errors).toMatchObject([
      { id: 'e1', status: 400, error: expect.stringContaining('archived') },
    ]);
  });

  it('can be listed, read and changed', async () => {
    const id = await configure({ name: 'flag', dataType: 'BOOLEAN', description: 'yes or no' });
    const { body } = await ask('GET', `/score-configs/${id}`);
    expect(body).toMatchObject({
      id,
      name: 'flag',
      dataType: 'BOOLEAN',
      isArchived: false,
      minValue: null,
      categories: [
        { label: 'True', value: 1 },
        { label: 'False', value: 0 },
      ],
    });
    expect(await idsOf('/score-configs?limit=1')).toEqual([id]);
    const changed = await ask('PATCH', `/score-configs/${id}`, {
      name: 'flag 2',
      description: null,
    });
    expect(changed.body).toMatchObject({ name: 'flag 2', description: 'yes or no' });
    expect((await ask('PATCH', `/score-configs/${id}`, {})).status).toBe(400);
    expect((await ask('PATCH', '/score-configs/none', { name: 'x' })).status).toBe(404);
  });

  it.each([
    { name: 'a'.repeat(36), dataType: 'NUMERIC' },
    { name: 'a/b', dataType: 'NUMERIC' },
    { name: 'a', dataType: 'CORRECTION' },
    { name: 'a', dataType: 'NUMERIC', minValue: 1, maxValue: 1 },
    { name: 'a', dataType: 'TEXT', minValue: 1 },
    { name: 'a', dataType: 'CATEGORICAL' },
    {
      name: 'a',
      dataType: 'CATEGORICAL',
      categories: [
        { label: 'x', value: 1 },
        { label: 'x', value: 2 },
      ],
    },
    { name: 'a', dataType: 'BOOLEAN', categories: [{ label: 'x', value: 1 }] },
  ])('is refused: %j', async (given) => {
    expect((await ask('POST', '/score-configs', given)).status).toBe(400);
  });
});

describe('lists of scores', () => {
  beforeAll(async () => {
    await ask('POST', '/traces', {
      id: 'lt',
      userId: 'ann',
      tags: ['a', 'b'],
      environment: 'prod',
      sessionId: 'ls',
    });
    const timestamp = (day: number) => `2026-01-0${day}T00:00:00Z`;
    const base = { timestamp: timestamp(1), name: 'listed' };
    await put({ ...base, id: 'l1', traceId: 'lt', value: 1, queueId: 'q1' });
    await put({
      ...base,
      id: 'l2',
      traceId: 'lt',
      value: 'x',
      timestamp: timestamp(2),
      observationId: 'ob',
    });
    await put({ ...base, id: 'l3', sessionId: 'ls', value: 3, timestamp: timestamp(3) });
    await put({
      ...base,
      id: 'l4',
      datasetRunId: 'run',
      value: 4,
      metadata: { by: 'hand' },
      timestamp: timestamp(4),
      environment: 'prod',
    });
  });

  it.each([
    ['/scores', 'name=listed', ['l2', 'l1']],
    ['/v2/scores', 'name=listed', ['l4', 'l3', 'l2', 'l1']],
    ['/v3/scores', 'name=listed', ['l4', 'l3', 'l2', 'l1']],
    ['/scores', 'userId=ann', ['l2', 'l1']],
    ['/scores', 'traceTags=a,b', ['l2', 'l1']],
    ['/scores', 'traceTags=c', []],
    ['/scores', 'queueId=q1', ['l1']],
    ['/scores', 'name=listed&dataType=CATEGORICAL', ['l2']],
    ['/scores', 'scoreIds=l1,l4', ['l1']],
    ['/v2/scores', 'scoreIds=l1,l4', ['l4', 'l1']],
    ['/v2/scores', 'name=listed&operator=>=&value=3', ['l4', 'l3']],
    ['/v2/scores', 'name=listed&operator=!=&value=3', ['l4', 'l2', 'l1']],
    ['/v2/scores', 'name=listed&operator==', ['l4', 'l3', 'l2', 'l1']],
    ['/v2/scores', 'sessionId=ls', ['l3']],
    ['/v2/scores', 'datasetRunId=run', ['l4']],
    ['/v2/scores', 'observationId=ob', ['l2']],
    ['/v2/scores', 'traceId=lt', ['l2', 'l1']],
    ['/v2/scores', 'name=listed&environment=prod', ['l4']],
    [
      '/v2/scores',
      'name=listed&fromTimestamp=2026-01-02T00:00:00Z&toTimestamp=2026-01-04T00:00:00Z',
      ['l3', 'l2'],
    ],
    ['/v2/scores', 'name=listed&limit=1&page=2', ['l3']],
    [
      '/v2/scores',
      `filter=${JSON.stringify([{ type: 'stringObject', column: 'metadata', key: 'by', operator: '=', value: 'hand' }])}`,
      ['l4'],
    ],
  ])('return the matching scores at %s filtered by %s', async (path, query, ids) => {
    expect(await idsOf(`${path}?${query}`)).toEqual(ids);
  });

  it('include fields of the trace', async () => {
    const { body } = await ask('GET', '/scores?scoreIds=l1');
    expect(body.data).toMatchObject([
      { trace: { userId: 'ann', tags: ['a', 'b'], environment: 'prod' } },
    ]);
    const all = await ask('GET', '/v2/scores?scoreIds=l1,l3');
    expect(all.body.data).toMatchObject([{ trace: null }, { trace: { sessionId: 'ls' } }]);
    const without = await ask('GET', '/v2/scores?scoreIds=l1&fields=score');
    expect(without.body.data[0]).not.toHaveProperty('trace');
  });

  it.each([
    '/scores?operator=LIKE&value=1',
    '/scores?value=1',
    '/scores?dataType=numeric',
    '/v2/scores?source=api',
    '/v3/scores?dataType=X',
    '/scores?operator=<&value=x',
    '/v2/scores?fields=trace',
    '/v2/scores?fields=score&userId=ann',
    '/v3/scores?cursor=x',
  ])('refuse %s', async (path) => {
    expect((await ask('GET', path)).status).toBe(400);
  });

  it('are paged by cursor, with values in their own types', async () => {
    const first = await ask('GET', '/v3/scores?name=listed&limit=3&fields=subject');
    expect(first.body.data).toMatchObject([
      { value: 4, datasetRunId: 'run' },
      { value: 3 },
      { value: 'x' },
    ]);
    const { cursor } = first.body.meta as { cursor: string };
    expect(await idsOf(`/v3/scores?name=listed&limit=3&cursor=${cursor}`)).toEqual(['l1']);
  });
});
