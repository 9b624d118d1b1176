/** Traces, observations and sessions: read by every filter and group, page by page, and deleted. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { ingest } from '#wire/public-api/operations.ts';
import { addNeighbour, type Neighbour } from '../support/neighbour.ts';
import { type OwnControl, startOwnControl } from '../support/own-control.ts';

let control: OwnControl;
let neighbour: Neighbour;

const at = (ms: number): string => new Date(Date.UTC(2026, 2, 1) + ms).toISOString();
let made = 0;
const event = (type: string, body: object, ms = 0) => {
  made += 1;
  return { id: `event-${made}`, type, timestamp: at(ms), body };
};

const send = async (...batch: unknown[]) => {
  const { body } = await control.send(ingest, { body: { batch } });
  expect(body.errors).toEqual([]);
};

type Body = { [member: string]: never } & { data: { id: string }[]; meta: Record<string, unknown> };

const ask = async (method: string, path: string, body?: unknown) => {
  const answer = await control.raw({
    method,
    path: `/api/public${path}`,
    headers: {
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: answer.body as Body };
};

const idsOf = async (path: string): Promise<string[]> => {
  const { status, body } = await ask('GET', path);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data.map(({ id }) => id);
};

const filterOf = (...entries: object[]): string =>
  `filter=${encodeURIComponent(JSON.stringify(entries))}`;

beforeAll(async () => {
  control = await startOwnControl();
  neighbour = await addNeighbour(control);
  await send(
    event('trace-create', {
      id: 't1',
      name: 'chat',
      timestamp: at(0),
      userId: 'ann',
      sessionId: 's1',
      tags: ['a', 'b'],
      version: '1',
      release: 'r1',
      environment: 'prod',
      input: { q: 1 },
      output: 'hi',
      metadata: { k: 'v' },
      public: true,
    }),
    event('trace-create', {
      id: 't2',
      name: 'batch',
      timestamp: at(1_000),
      tags: ['b'],
      userId: 'bob',
    }),
    event('trace-create', { id: 't3', name: 'chat', timestamp: at(2_000), sessionId: 's1' }),
    event('span-create', {
      id: 'o1',
      traceId: 't1',
      name: 'outer',
      startTime: at(0),
      endTime: at(2_500),
    }),
    event('generation-create', {
      id: 'o2',
      traceId: 't1',
      parentObservationId: 'o1',
      name: 'inner',
      startTime: at(500),
      completionStartTime: at(700),
      endTime: at(1_500),
      model: 'm-1',
      modelParameters: { temperature: 0 },
      usageDetails: { input: 10, output: 5 },
      costDetails: { input: 0.5, output: 0.25 },
      input: [{ role: 'user' }],
      output: 'text',
      metadata: { long: 'x'.repeat(500), short: 'y' },
      level: 'WARNING',
    }),
    event('event-create', { id: 'o3', traceId: 't2', startTime: at(1_000), level: 'ERROR' }),
    event('score-create', {
      id: 'sc1',
      traceId: 't1',
      name: 'quality',
      value: 0.9,
      timestamp: at(5),
    }),
    event('score-create', { id: 'sc2', traceId: 't2', name: 'quality', value: 0.1 }),
  );
});

afterAll(() => control.stop());

describe('the list of traces', () => {
  it.each([
    ['', ['t3', 't2', 't1']],
    ['orderBy=timestamp.asc', ['t1', 't2', 't3']],
    ['orderBy=id.asc', ['t1', 't2', 't3']],
    ['userId=ann', ['t1']],
    ['userId=', ['t3', 't2', 't1']],
    ['name=chat', ['t3', 't1']],
    ['sessionId=s1', ['t3', 't1']],
    ['tags=b', ['t2', 't1']],
    ['tags=a&tags=b', ['t1']],
    ['tags=a%2Cb', ['t1']],
    ['version=1', ['t1']],
    ['release=r1', ['t1']],
    ['environment=prod', ['t1']],
    ['environment=prod&environment=default', ['t3', 't2', 't1']],
    [`fromTimestamp=${at(1_000)}`, ['t3', 't2']],
    [`toTimestamp=${at(1_000)}`, ['t1']],
    ['limit=1', ['t3']],
    ['limit=1&page=3', ['t1']],
    ['unknown=1', ['t3', 't2', 't1']],
    [
      filterOf({ type: 'string', column: 'name', operator: 'contains', value: 'at' }),
      ['t3', 't2', 't1'],
    ],
    [filterOf({ type: 'string', column: 'userId', operator: 'starts with', value: 'a' }), ['t1']],
    [
      filterOf({ type: 'stringOptions', column: 'userId', operator: 'none of', value: ['ann'] }),
      ['t3', 't2'],
    ],
    [
      filterOf({ type: 'arrayOptions', column: 'tags', operator: 'none of', value: ['a'] }),
      ['t3', 't2'],
    ],
    [filterOf({ type: 'null', column: 'sessionId', operator: 'is null', value: '' }), ['t2']],
    [filterOf({ type: 'datetime', column: 'timestamp', operator: '>', value: at(1_000) }), ['t3']],
    [filterOf({ type: 'number', column: 'latency', operator: '>', value: 1 }), ['t1']],
    [filterOf({ type: 'number', column: 'totalTokens', operator: '=', value: 15 }), ['t1']],
    [filterOf({ type: 'number', column: 'errorCount', operator: '>=', value: 1 }), ['t2']],
    ['name=batch&orderBy=bookmarked.desc', ['t2']],
    [
      filterOf({ type: 'stringObject', column: 'metadata', key: 'k', operator: '=', value: 'v' }),
      ['t1'],
    ],
    [
      filterOf({
        type: 'categoryOptions',
        column: 'metadata',
        key: 'k',
        operator: 'none of',
        value: ['v'],
      }),
      ['t3', 't2'],
    ],
    [
      filterOf({
        type: 'numberObject',
        column: 'scores_avg',
        key: 'quality',
        operator: '<',
        value: 0.5,
      }),
      ['t2'],
    ],
    [
      `name=chat&${filterOf({ type: 'string', column: 'name', operator: '=', value: 'batch' })}`,
      ['t2'],
    ],
  ])('filtered and ordered by %s', async (query, ids) => {
    expect(await idsOf(`/traces?${query}`)).toEqual(ids);
  });

  it.each([
    ['page=0', 'page'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['page=100000', 'page'],
    ['fromTimestamp=yesterday', 'fromTimestamp'],
    ['orderBy=input.asc', 'orderBy'],
    ['orderBy=name.up', 'orderBy'],
    ['filter=%7B', 'filter'],
    ['filter=%7B%7D', 'filter'],
    [filterOf({ type: 'string', column: 'project_id', operator: '=', value: 'x' }), 'filter'],
    [filterOf({ type: 'string', column: 'constructor', operator: '=', value: 'x' }), 'filter'],
    [filterOf({ type: 'string', column: 'name', operator: `= '' or`, value: 'x' }), 'filter'],
    [filterOf({ type: 'number', column: 'name', operator: '=', value: 1 }), 'filter'],
    [filterOf({ type: 'stringOptions', column: 'name', operator: 'any of', value: [1] }), 'filter'],
  ])('is refused by name for %s', async (query, field) => {
    const { status, body } = await ask('GET', `/traces?${query}`);
    expect([status, body.error]).toEqual([400, [{ path: [field], message: expect.any(String) }]]);
  });

  it.each(
    [
      ['scores_avg', 'numberObject'],
      ['score_categories', 'stringObject', 'categoryOptions'],
      ['score_booleans', 'booleanObject'],
    ].flatMap(([column = '', ...own]) =>
      ['numberObject', 'stringObject', 'categoryOptions', 'booleanObject'].map((type) => ({
        column,
        type,
        status: own.includes(type) ? 200 : 400,
      })),
    ),
  )('is asked by its scores in the words of their kind: %j', async ({ column, type, status }) => {
    const values: Record<string, unknown> = {
      numberObject: { operator: '=', value: 1 },
      stringObject: { operator: '=', value: 'x' },
      categoryOptions: { operator: 'any of', value: ['x'] },
      booleanObject: { operator: '=', value: true },
    };
    const entry = { column, type, key: 'quality', ...(values[type] as object) };
    expect((await ask('GET', `/traces?${filterOf(entry)}`)).status).toBe(status);
  });

  it('is asked by times beyond all that there are', async () => {
    const all = await idsOf('/traces?name=chat');
    const [first, last] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'];
    const within = `name=chat&fromTimestamp=${first}&toTimestamp=${last}`;
    expect(await idsOf(`/traces?${within}`)).toEqual(all);
    const entry = { type: 'datetime', column: 'timestamp', operator: '>', value: first };
    expect(await idsOf(`/traces?name=chat&${filterOf(entry)}`)).toEqual(all);
    expect(await idsOf(`/traces?name=chat&fromTimestamp=${last}`)).toEqual([]);
  });

  it('has all members, and of groups that are left out what stands for them', async () => {
    const { body } = await ask('GET', '/traces?name=chat&userId=ann');
    expect(body.meta).toEqual({ page: 1, limit: 50, totalItems: 1, totalPages: 1 });
    expect(body.data[0]).toMatchObject({
      id: 't1',
      externalId: null,
      timestamp: at(0),
      metadata: { k: 'v' },
      public: true,
      bookmarked: false,
      input: { q: 1 },
      output: 'hi',
      observations: ['o1', 'o2'],
      scores: ['sc1'],
      totalCost: 0.75,
      latency: 2.5,
    });
    const core = await ask('GET', '/traces?fields=core,nonsense&userId=ann');
    expect(core.body.data[0]).toMatchObject({
      input: null,
      output: null,
      metadata: {},
      observations: [],
      scores: [],
      totalCost: -1,
      latency: -1,
    });
  });
});

describe('a trace', () => {
  it('has its observations and scores, whole', async () => {
    const { body } = await ask('GET', '/traces/t1');
    expect(body).toMatchObject({
      id: 't1',
      latency: 2.5,
      totalCost: 0.75,
      scores: [{ id: 'sc1', value: 0.9 }],
    });
    expect(body.observations).toMatchObject([
      {
        id: 'o1',
        type: 'SPAN',
        latency: 2.5,
        parentObservationId: null,
        input: null,
        metadata: {},
      },
      {
        id: 'o2',
        type: 'GENERATION',
        parentObservationId: 'o1',
        model: 'm-1',
        modelParameters: { temperature: 0 },
        usage: { unit: 'TOKENS', input: 10, output: 5, total: 15 },
        usageDetails: { input: 10, output: 5, total: 15 },
        costDetails: { input: 0.5, output: 0.25, total: 0.75 },
        calculatedTotalCost: 0.75,
        promptTokens: 10,
        input: [{ role: 'user' }],
        output: 'text',
        latency: 1,
        timeToFirstToken: 0.2,
      },
    ]);
  });

  it('is read with its list whatever its observations say that they cost', async () => {
    const costDetails = { total: Number.MAX_VALUE };
    const ids = ['dear-1', 'dear-2'];
    await send(
      ...ids.map((id) =>
        event('generation-create', { id, traceId: 'dear', costDetails, startTime: at(-9_000) }),
      ),
    );
    expect(await ask('GET', '/traces/dear')).toMatchObject({ status: 200, body: { totalCost: 0 } });
    expect((await ask('GET', '/traces')).status).toBe(200);
    expect((await ask('DELETE', '/traces/dear')).status).toBe(200);
  });

  it('is created and updated by a request of its own', async () => {
    const created = await ask('POST', '/traces', { id: 'own', name: 'one', tags: null, colour: 1 });
    expect([created.status, created.body]).toEqual([200, { id: 'own' }]);
    await ask('POST', '/traces', { id: 'own', output: { done: true } });
    const { body } = await ask('GET', '/traces/own');
    expect(body).toMatchObject({ name: 'one', output: { done: true }, observations: [] });
    const refused = await ask('POST', '/traces', { name: 7 });
    expect([refused.status, refused.body.error]).toMatchObject([400, [{ path: ['name'] }]]);
    await ask('DELETE', '/traces/own');
  });

  it('that nobody has is 404, also for what another project has', async () => {
    expect((await ask('GET', '/traces/none')).status).toBe(404);
    const answer = await control.raw({
      method: 'GET',
      path: '/api/public/traces/t1',
      headers: { authorization: neighbour.authorization },
    });
    expect(answer.status).toBe(404);
  });

  it('is deleted with all that is in it, one or a thousand', async () => {
    const ids = Array.from({ length: 1_000 }, (_, i) => `gone-${i}`);
    await send(
      ...ids.map((id) => event('trace-create', { id })),
      event('span-create', { id: 'gone-span', traceId: 'gone-5' }),
      event('score-create', { id: 'gone-score', traceId: 'gone-5', name: 'n', value: 1 }),
    );
    const one = await ask('DELETE', '/traces/gone-0');
    expect([one.status, one.body]).toEqual([200, { message: 'Trace deleted successfully' }]);
    expect((await ask('DELETE', '/traces/gone-0')).status).toBe(404);
    const all = await ask('DELETE', '/traces', { traceIds: ids });
    expect([all.status, all.body]).toEqual([200, { message: 'Traces deleted successfully' }]);
    expect((await ask('GET', '/traces/gone-5')).status).toBe(404);
    expect((await ask('GET', '/observations/gone-span')).status).toBe(404);
    expect(await control.sql(`select from scores where id = 'gone-score'`)).toEqual([]);
    const tooMany = await ask('DELETE', '/traces', { traceIds: [...ids, 'one-more'] });
    expect(tooMany.status).toBe(400);
  });
});

describe('observations', () => {
  it.each([
    ['', ['o3', 'o2', 'o1']],
    ['type=GENERATION', ['o2']],
    ['name=outer', ['o1']],
    ['userId=bob', ['o3']],
    ['level=WARNING', ['o2']],
    ['level=DEFAULT', ['o1']],
    ['traceId=t1', ['o2', 'o1']],
    ['parentObservationId=o1', ['o2']],
    ['environment=default', ['o3', 'o2', 'o1']],
    [`fromStartTime=${at(500)}&toStartTime=${at(1_000)}`, ['o2']],
    [filterOf({ type: 'number', column: 'totalCost', operator: '>', value: 0.5 }), ['o2']],
    [
      filterOf({
        type: 'stringObject',
        column: 'metadata',
        key: 'short',
        operator: 'contains',
        value: 'y',
      }),
      ['o2'],
    ],
    [
      filterOf({
        type: 'stringOptions',
        column: 'type',
        operator: 'any of',
        value: ['SPAN', 'EVENT'],
      }),
      ['o3', 'o1'],
    ],
  ])('are filtered by %s, at both routes', async (query, ids) => {
    expect(await idsOf(`/observations?${query}`)).toEqual(ids);
    expect(await idsOf(`/v2/observations?${query}`)).toEqual(ids);
  });

  it('are refused for a type or level that there is not', async () => {
    expect((await ask('GET', '/observations?type=X')).status).toBe(400);
    expect((await ask('GET', '/observations?level=LOW')).status).toBe(400);
  });

  it('are found by their ids', async () => {
    expect((await ask('GET', '/observations/o2')).body).toMatchObject({ id: 'o2', traceId: 't1' });
    expect((await ask('GET', '/observations/none')).status).toBe(404);
  });

  it('are walked through by cursor, in the groups that are asked for', async () => {
    const seen: string[] = [];
    let cursor: unknown;
    for (let page = 0; page < 5; page += 1) {
      const from: string = cursor === undefined ? '' : `&cursor=${cursor}`;
      const { body } = await ask('GET', `/v2/observations?limit=1&fields=core,io,metadata${from}`);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.meta.cursor;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual(['o3', 'o2', 'o1']);
    const { body } = await ask(
      'GET',
      '/v2/observations?type=GENERATION&fields=io,metadata,usage,trace_context,metrics,model',
    );
    expect(body.data[0]).toMatchObject({
      input: '[{"role":"user"}]',
      output: 'text',
      metadata: { long: 'x'.repeat(200), short: 'y' },
      totalCost: 0.75,
      traceName: 'chat',
      tags: ['a', 'b'],
      latency: 1,
      providedModelName: 'm-1',
      modelId: null,
    });
    const whole = await ask(
      'GET',
      '/v2/observations?type=GENERATION&fields=metadata&expandMetadata=long',
    );
    expect(whole.body.data[0]).toMatchObject({ metadata: { long: 'x'.repeat(500) } });
  });

  it('have long metadata cut between characters', async () => {
    const metadata = { text: `${'x'.repeat(199)}${String.fromCodePoint(0x1f600)}` };
    await send(
      event('span-create', { id: 'cut', traceId: 'cut', metadata, startTime: at(-9_000) }),
    );
    const { body } = await ask('GET', '/v2/observations?traceId=cut&fields=metadata');
    expect(body.data).toMatchObject([{ metadata: { text: 'x'.repeat(199) } }]);
    await ask('DELETE', '/traces/cut');
  });

  it.each([
    'cursor=x',
    `cursor=${Buffer.from('[8.6e15,"x"]').toString('base64url')}`,
    `cursor=${Buffer.from('[-62200000000000,"x"]').toString('base64url')}`,
    'limit=1001',
    'parseIoAsJson=true',
  ])('are refused at /v2 for %s', async (query) => {
    expect((await ask('GET', `/v2/observations?${query}`)).status).toBe(400);
  });
});

describe('sessions', () => {
  it('are listed, and shown with their traces, with observations when asked', async () => {
    expect(await idsOf('/sessions')).toEqual(['s1']);
    expect(await idsOf('/sessions?environment=prod')).toEqual(['s1']);
    expect(await idsOf('/sessions?environment=other')).toEqual([]);
    expect(await idsOf(`/sessions?toTimestamp=${at(0)}`)).toEqual([]);
    const { body } = await ask('GET', '/sessions/s1');
    expect(body.traces).toMatchObject([{ id: 't1' }, { id: 't3' }]);
    expect(body.traces?.[0]).not.toHaveProperty('observations');
    const whole = await ask('GET', '/sessions/s1?includeIO=true');
    expect(whole.body.traces).toMatchObject([
      { id: 't1', observations: [{ id: 'o1' }, { id: 'o2', input: [{ role: 'user' }] }] },
      { id: 't3', observations: [] },
    ]);
    expect((await ask('GET', '/sessions/none')).status).toBe(404);
  });
});

describe('a page', () => {
  it('leaves what has no room out, and names it', async () => {
    const input = 'x'.repeat(1_500_000);
    for (let i = 0; i < 4; i += 1) {
      await send(
        event('trace-create', { id: `heavy-${i}`, name: 'heavy', input, timestamp: at(i) }),
      );
    }
    const { body } = await ask('GET', '/traces?name=heavy&orderBy=timestamp.asc');
    expect(body.data.map((trace) => (trace as { omitted?: unknown }).omitted)).toEqual([
      undefined,
      undefined,
      ['input', 'output', 'metadata'],
      ['input', 'output', 'metadata'],
    ]);
    expect((await ask('GET', '/traces/heavy-3')).body.input).toBe(input);
  });
});

describe('what nobody said', () => {
  type Written = { createdAt: string; updatedAt: string };
  const usual = { environment: 'default', public: false, tags: [] };

  it('is shown as what is usual, and a later time of writing only where there was one', async () => {
    const trace = { id: 'bare', sessionId: 'bare-session', timestamp: at(0) };
    const span = { id: 'bare-span', traceId: 'bare', startTime: at(0) };
    await send(event('trace-create', trace), event('span-create', span));
    const shownOf = async (): Promise<{ traces: Written[]; observations: Written[] }> => {
      const whole = (await ask('GET', '/traces/bare')).body;
      const session = (await ask('GET', '/sessions/bare-session')).body;
      const withIo = (await ask('GET', '/sessions/bare-session?includeIO=true')).body;
      const listed = (await ask('GET', '/observations?traceId=bare')).body;
      const parts = (await ask('GET', '/v2/observations?traceId=bare&fields=basic,time')).body;
      const traces = [whole, session.traces?.[0], withIo.traces?.[0]] as never[];
      const observations = [whole.observations?.[0], listed.data[0], parts.data[0]] as never[];
      for (const one of traces) expect(one).toMatchObject(usual);
      for (const one of observations) {
        expect(one).toMatchObject({ environment: 'default', level: 'DEFAULT' });
      }
      return { traces, observations };
    };
    const first = await shownOf();
    for (const { createdAt, updatedAt } of [...first.traces, ...first.observations]) {
      expect(updatedAt).toBe(createdAt);
    }
    await send(
      event('trace-create', { ...trace, name: 'named' }, 1),
      event('span-update', { ...span, level: 'DEFAULT', name: 'named' }, 1),
    );
    const second = await shownOf();
    for (const { createdAt, updatedAt } of [...second.traces, ...second.observations]) {
      expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(createdAt));
    }
    await ask('DELETE', '/traces/bare');
  });
});
