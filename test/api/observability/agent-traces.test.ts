/** Tests traces: listed by every filter and group of fields, read, and deleted. */
import { describe, expect, it } from 'vitest';
import { at, event, filterOf, tracedProject } from '../../support/control/traced-project.ts';

const { ask, control, idsOf, neighbour, send } = tracedProject();

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
    [filterOf({ type: 'string', column: 'input', operator: 'contains', value: '"q":1' }), ['t1']],
    [filterOf({ type: 'string', column: 'output', operator: '=', value: 'hi' }), ['t1']],
    [
      filterOf({ type: 'stringOptions', column: 'level', operator: 'any of', value: ['WARNING'] }),
      ['t1'],
    ],
    [filterOf({ type: 'string', column: 'level', operator: '=', value: 'ERROR' }), ['t2']],
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
  ])('is filtered and ordered by %s', async (query, ids) => {
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
    [
      filterOf({
        type: 'string',
        column: 'constructor',
        operator: '=',
        value: 'x',
      }),
      'filter',
    ],
    [filterOf({ type: 'string', column: 'name', operator: `= '' or`, value: 'x' }), 'filter'],
    [filterOf({ type: 'number', column: 'name', operator: '=', value: 1 }), 'filter'],
    [filterOf({ type: 'stringOptions', column: 'name', operator: 'any of', value: [1] }), 'filter'],
  ])('is refused with the name of the parameter for %s', async (query, field) => {
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
  )(
    'filters scores only by filter types that fit their data type: %j',
    async ({ column, type, status }) => {
      const values: Record<string, unknown> = {
        numberObject: { operator: '=', value: 1 },
        stringObject: { operator: '=', value: 'x' },
        categoryOptions: { operator: 'any of', value: ['x'] },
        booleanObject: { operator: '=', value: true },
      };
      const entry = { column, type, key: 'quality', ...(values[type] as object) };
      expect((await ask('GET', `/traces?${filterOf(entry)}`)).status).toBe(status);
    },
  );

  it('accepts times earlier and later than those of all traces', async () => {
    const all = await idsOf('/traces?name=chat');
    const [first, last] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'];
    const within = `name=chat&fromTimestamp=${first}&toTimestamp=${last}`;
    expect(await idsOf(`/traces?${within}`)).toEqual(all);
    const entry = { type: 'datetime', column: 'timestamp', operator: '>', value: first };
    expect(await idsOf(`/traces?name=chat&${filterOf(entry)}`)).toEqual(all);
    expect(await idsOf(`/traces?name=chat&fromTimestamp=${last}`)).toEqual([]);
  });

  it('has all members, and placeholder values for groups of fields that were not requested', async () => {
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
  it('has all its observations and scores in full', async () => {
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

  it('can be read and listed whatever costs its observations report', async () => {
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

  it('is created and updated by POST /traces', async () => {
    const created = await ask('POST', '/traces', { id: 'own', name: 'one', tags: null, colour: 1 });
    expect([created.status, created.body]).toEqual([200, { id: 'own' }]);
    await ask('POST', '/traces', { id: 'own', output: { done: true } });
    const { body } = await ask('GET', '/traces/own');
    expect(body).toMatchObject({ name: 'one', output: { done: true }, observations: [] });
    const refused = await ask('POST', '/traces', { name: 7 });
    expect([refused.status, refused.body.error]).toMatchObject([400, [{ path: ['name'] }]]);
    await ask('DELETE', '/traces/own');
  });

  it('gets 404 when it does not exist or belongs to another project', async () => {
    expect((await ask('GET', '/traces/none')).status).toBe(404);
    const answer = await control().raw({
      method: 'GET',
      path: '/api/public/traces/t1',
      headers: { authorization: neighbour().authorization },
    });
    expect(answer.status).toBe(404);
  });

  it('is deleted with its observations and scores, alone or a thousand at once', async () => {
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
    expect(await control().sql(`select from scores where id = 'gone-score'`)).toEqual([]);
    const tooMany = await ask('DELETE', '/traces', { traceIds: [...ids, 'one-more'] });
    expect(tooMany.status).toBe(400);
  });
});
