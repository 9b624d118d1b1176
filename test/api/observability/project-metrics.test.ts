/** Tests `/metrics`, `/v2/metrics` and `/metrics/daily` against sums that this file computes from the same data. */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;

type Row = Record<string, unknown>;
type Body = { [member: string]: unknown; data: Row[]; meta: { totalItems: number } };

const ask = async (method: string, path: string, body?: object) => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const answer = await createAsker(control)(method, path, {
    as,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: answer.body as Body };
};

const askMetrics = (query: object | string, route = '/metrics') => {
  const text = typeof query === 'string' ? query : JSON.stringify(query);
  return ask('GET', `${route}?query=${encodeURIComponent(text)}`);
};

const range = { fromTimestamp: '2026-03-01T00:00:00Z', toTimestamp: '2026-03-11T00:00:00Z' };

const metrics = async (query: object, route?: string): Promise<Row[]> => {
  const { status, body } = await askMetrics({ ...range, ...query }, route);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data;
};

const count = { measure: 'count', aggregation: 'count' };
const sum = (measure: string) => ({ measure, aggregation: 'sum' });

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const start = Date.UTC(2026, 2, 1);
const iso = (ms: number) => new Date(ms).toISOString();

type Observation = {
  at: number;
  trace: number;
  model: string | null;
  latencyMs: number;
  tokens: number;
  cost: number;
};

/** Data to send: 40 traces, 5 hours apart, each with 4 observations that also begin 5 hours apart. */
const traces = Array.from({ length: 40 }, (_, index) => ({
  index,
  at: start + index * 5 * hourMs,
  name: `name-${index % 3}`,
  userId: `user-${index % 4}`,
  environment: index % 2 === 0 ? 'prod' : 'test',
  tags: index % 5 === 0 ? ['a', 'b'] : ['a'],
}));
const observations: Observation[] = traces.flatMap(({ index, at }) =>
  Array.from({ length: 4 }, (_, place) => ({
    at: at + place * 5 * hourMs,
    trace: index,
    model: place === 0 ? null : `model-${place % 2}`,
    latencyMs: 100 * (place + 1) + index,
    tokens: place === 0 ? 0 : index + place,
    cost: place === 0 ? 0 : (index + place) / 8,
  })),
);
const last = start + 10 * dayMs;
const inRange = observations.filter(({ at }) => at < last);

const total = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((all, item) => all + of(item), 0);

beforeAll(async () => {
  control = await shareControl();
  let sent = 0;
  const event = (type: string, body: object) => {
    sent += 1;
    return { id: `event ${sent}`, type, timestamp: iso(start + sent), body };
  };
  const batch = [
    ...traces.map(({ index, at, ...trace }) =>
      event('trace-create', {
        ...{ ...trace, id: `t${index}`, timestamp: iso(at), release: 'r' },
        metadata: { tier: index % 2 === 0 ? 'gold' : 'tin', odd: '\u0000\\u0000\\\u0000 \ud800' },
      }),
    ),
    ...observations.map(({ at, trace, model, latencyMs, tokens, cost }, index) =>
      event('generation-create', {
        ...{ id: `o${index}`, traceId: `t${trace}`, name: `step-${index % 4}` },
        ...{ startTime: iso(at), endTime: iso(at + latencyMs) },
        ...(model === null
          ? {}
          : {
              model,
              usageDetails: { input: tokens, output: 1 },
              costDetails: { input: cost },
            }),
        level: index % 10 === 0 ? 'ERROR' : 'DEFAULT',
      }),
    ),
    ...traces.slice(0, 10).flatMap(({ index }) => [
      event('score-create', { name: 'quality', traceId: `t${index}`, value: index / 10 }),
      event('score-create', {
        ...{ name: 'kind', traceId: `t${index}`, dataType: 'CATEGORICAL' },
        value: index % 2 === 0 ? 'good' : 'bad',
      }),
      event('score-create', {
        ...{ name: 'right', traceId: `t${index}`, dataType: 'BOOLEAN', value: index % 2 },
        observationId: `o${index * 4}`,
      }),
    ]),
  ];
  const { body } = await ask('POST', '/ingestion', { batch });
  expect(body.errors).toEqual([]);
});

describe('metrics of observations', () => {
  const view = 'observations';

  it('count and sum over whole days and over parts of days', async () => {
    for (const [from, to] of [
      [start, last],
      [start + 7 * hourMs, last - 3 * hourMs],
      [start + 7 * hourMs, start + 9 * hourMs],
      [start + 7 * hourMs, start + dayMs + 9 * hourMs],
    ] as const) {
      const within = observations.filter(({ at }) => at >= from && at < to);
      const asked = { fromTimestamp: iso(from), toTimestamp: iso(to), view };
      const [row] = await metrics({
        ...asked,
        metrics: [count, sum('totalTokens'), sum('totalCost'), sum('count')],
      });
      expect(row).toEqual({
        count_count: within.length,
        sum_count: within.length,
        sum_totalTokens: total(within, ({ tokens, model }) => tokens + (model === null ? 0 : 1)),
        sum_totalCost: total(within, ({ cost }) => cost),
      });
    }
  });

  it.each([
    [{ dimensions: [{ field: 'providedModelName' }] }],
    [{ dimensions: [{ field: 'traceName' }], timeDimension: { granularity: 'day' } }],
    [{ timeDimension: { granularity: 'week' } }],
    [{ timeDimension: { granularity: 'month' } }],
    [
      {
        dimensions: [{ field: 'traceName' }, { field: 'providedModelName' }],
        orderBy: [
          { field: 'sum_totalCost', direction: 'desc' },
          { field: 'traceName', direction: 'asc' },
        ],
      },
    ],
    [
      {
        filters: [
          { type: 'stringOptions', column: 'traceName', operator: 'any of', value: ['name-1'] },
          { type: 'string', column: 'providedModelName', operator: 'contains', value: 'model' },
        ],
      },
    ],
  ])('are equal from daily rollups and from raw rows: %j', async (parts) => {
    const asked = { view, metrics: [sum('totalCost'), count, sum('inputTokens')], ...parts };
    const odd = { fromTimestamp: iso(start + hourMs), toTimestamp: iso(last - 90 * 60_000) };
    // Daily rollups do not store levels, so this filter forces a read of raw rows.
    const column = { type: 'string', column: 'level', operator: 'does not contain', value: 'x' };
    const filters = [...((parts as { filters?: object[] }).filters ?? []), column];
    for (const times of [range, odd]) {
      const kept = await metrics({ ...asked, ...times });
      expect(kept.length).toBeGreaterThan(0);
      expect(kept).toEqual(await metrics({ ...asked, ...times, filters }));
    }
  });

  it('support every aggregation', async () => {
    const latency = (aggregation: string) => ({ measure: 'latency', aggregation });
    const kinds = ['avg', 'count', 'max', 'min', 'p50', 'p95', 'uniq', 'sum'];
    const [row] = await metrics({ view, metrics: kinds.map(latency) });
    const all = inRange.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
    const at = (share: number) => {
      const place = share * (all.length - 1);
      const [low = 0, high = 0] = [all[Math.floor(place)], all[Math.ceil(place)]];
      return low + (high - low) * (place - Math.floor(place));
    };
    const summed = total(all, (one) => one);
    expect(row?.avg_latency).toBeCloseTo(summed / all.length, 6);
    expect(row?.p50_latency).toBeCloseTo(at(0.5), 6);
    expect(row?.p95_latency).toBeCloseTo(at(0.95), 6);
    expect(row).toMatchObject({
      count_latency: all.length,
      max_latency: all.at(-1),
      min_latency: all[0],
      uniq_latency: new Set(all).size,
      sum_latency: summed,
    });
  });

  it('build histograms with the requested bins, by group', async () => {
    const rows = await metrics({
      ...{ view, metrics: [{ measure: 'latency', aggregation: 'histogram' }, count] },
      ...{ dimensions: [{ field: 'name' }], config: { bins: 5 } },
    });
    expect(rows).toHaveLength(4);
    for (const row of rows) {
      const bins = row.histogram_latency as [number, number, number][];
      expect(total(bins, ([, , height]) => height)).toBe(row.count_count);
      expect(bins.length).toBeLessThanOrEqual(5);
      for (const [lower, upper] of bins) expect(upper).toBeGreaterThan(lower);
    }
    const [alone] = await metrics({
      ...{ view, metrics: [{ measure: 'latency', aggregation: 'histogram' }] },
    });
    const bins = alone?.histogram_latency as [number, number, number][];
    expect(total(bins, ([, , height]) => height)).toBe(inRange.length);
  });

  it('apply filters on the observation and on its trace', async () => {
    const counted = async (...filters: object[]) =>
      (await metrics({ view, metrics: [count], filters }))[0]?.count_count;
    const ofTraces = (isOne: (trace: (typeof traces)[number]) => boolean) =>
      inRange.filter(({ trace }) => isOne(traces[trace] as (typeof traces)[number])).length;
    const user = { type: 'string', column: 'userId', operator: '=', value: 'user-1' };
    expect(await counted(user)).toBe(ofTraces(({ userId }) => userId === 'user-1'));
    const tags = { type: 'arrayOptions', column: 'tags', operator: 'any of', value: ['b'] };
    expect(await counted(tags)).toBe(ofTraces((one) => one.tags.length === 2));
    const slow = { type: 'number', column: 'latency', operator: '>', value: 300 };
    expect(await counted(slow)).toBe(inRange.filter(({ latencyMs }) => latencyMs > 300).length);
  });

  it('have no gaps when time is the only dimension', async () => {
    const rows = await metrics({
      ...{ view, metrics: [count, { measure: 'latency', aggregation: 'p95' }] },
      ...{ timeDimension: { granularity: 'hour' }, toTimestamp: '2026-03-02T12:30:00Z' },
    });
    expect(rows).toHaveLength(37);
    expect(rows[0]).toMatchObject({ time_dimension: '2026-03-01T00:00:00.000Z', count_count: 1 });
    expect(rows[1]).toEqual({
      ...{ time_dimension: '2026-03-01T01:00:00.000Z', count_count: 0, p95_latency: null },
    });
    const auto = await metrics({ view, metrics: [count], timeDimension: { granularity: 'auto' } });
    expect(auto.map((row) => row.time_dimension)).toEqual(
      Array.from({ length: 10 }, (_, day) => iso(start + day * dayMs)),
    );
  });
});

describe('metrics of traces', () => {
  const view = 'traces';

  it('count traces by name and sum up their observations', async () => {
    const rows = await metrics({
      view,
      metrics: [count, sum('observationsCount'), sum('totalCost'), sum('scoresCount')],
      dimensions: [{ field: 'name' }],
      orderBy: [{ field: 'name', direction: 'asc' }],
    });
    expect(rows).toEqual(
      ['name-0', 'name-1', 'name-2'].map((name) => {
        const own = traces.filter((trace) => trace.name === name);
        const within = observations.filter(({ trace }) => trace % 3 === Number(name.slice(5)));
        return {
          name,
          count_count: own.length,
          sum_observationsCount: 4 * own.length,
          sum_totalCost: total(within, ({ cost }) => cost),
          sum_scoresCount: 3 * own.filter(({ index }) => index < 10).length,
        };
      }),
    );
    const [kept] = await metrics({ view, metrics: [count], toTimestamp: iso(start + 30 * hourMs) });
    expect(kept).toEqual({ count_count: 6 });
  });

  it('count distinct users, measure latency and filter by metadata', async () => {
    const uniq = { measure: 'uniqueUserIds', aggregation: 'uniq' };
    const metadata = { type: 'stringObject', column: 'metadata', key: 'tier', operator: '=' };
    const filters = [{ ...metadata, value: 'gold' }];
    const max = { measure: 'latency', aggregation: 'max' };
    const all = await metrics({ view, metrics: [uniq, count, max] });
    expect(all).toEqual([
      { uniq_uniqueUserIds: 4, count_count: 40, max_latency: 15 * hourMs + 400 + 39 },
    ]);
    expect(await metrics({ view, metrics: [uniq, count], filters })).toEqual([
      { uniq_uniqueUserIds: 2, count_count: 20 },
    ]);
  });
});

describe('metrics of scores', () => {
  it('count only scores of the data type of their view', async () => {
    const one = async (view: string, ...rest: object[]) =>
      metrics({ ...{ view, metrics: [count] }, ...Object.assign({}, ...rest) });
    const avg = { measure: 'value', aggregation: 'avg' };
    const [numeric] = await one('scores-numeric', { metrics: [count, avg] });
    expect(numeric).toMatchObject({ count_count: 10 });
    expect(numeric?.avg_value).toBeCloseTo(0.45, 9);
    const dimensions = (field: string) => ({
      ...{ dimensions: [{ field }], orderBy: [{ field, direction: 'asc' }] },
    });
    expect(await one('scores-categorical', dimensions('stringValue'))).toEqual([
      { stringValue: 'bad', count_count: 5 },
      { stringValue: 'good', count_count: 5 },
    ]);
    expect(await one('scores-boolean', dimensions('observationName'))).toEqual([
      { observationName: 'step-0', count_count: 10 },
    ]);
    expect(await one('scores-boolean', dimensions('booleanValue'))).toEqual([
      { booleanValue: false, count_count: 5 },
      { booleanValue: true, count_count: 5 },
    ]);
  });
});

describe('a metrics query', () => {
  const good = { ...range, view: 'observations', metrics: [count] };
  it.each([
    ['{', 'Invalid JSON in query parameter'],
    ['[]', 'must be an object'],
    [{ ...good, view: 'x' }, 'invalid view'],
    [{ ...good, view: 'toString' }, 'invalid view'],
    [{ ...good, metrics: [] }, 'at least one'],
    [{ ...good, metrics: null }, 'at least one'],
    [
      {
        ...good,
        metrics: [{ measure: 'constructor', aggregation: 'sum' }],
      },
      'invalid metric',
    ],
    [{ ...good, metrics: [{ measure: 'latency', aggregation: 'drop' }] }, 'invalid aggregation'],
    [{ ...good, metrics: [{ measure: 'count', aggregation: 'p95' }] }, 'can only be counted'],
    [{ ...good, metrics: Array.from({ length: 21 }, () => count) }, 'more than 20'],
    [{ ...good, dimensions: [{ field: 'x; drop table traces' }] }, 'invalid dimension'],
    [{ ...good, dimensions: 'name' }, 'a list'],
    [{ ...good, filters: [{ type: 'string', column: 'x', operator: '=', value: '' }] }, 'column'],
    [{ ...good, filters: {} }, 'a list'],
    [{ ...good, timeDimension: { granularity: 'year' } }, 'invalid granularity'],
    [{ ...good, timeDimension: { granularity: 'minute' } }, 'coarser granularity'],
    [{ ...good, fromTimestamp: 'now' }, 'fromTimestamp'],
    [{ ...good, toTimestamp: undefined }, 'toTimestamp'],
    [{ ...good, toTimestamp: good.fromTimestamp }, 'before'],
    [{ ...good, orderBy: [{ field: 'name', direction: 'asc' }] }, 'invalid orderBy field'],
    [{ ...good, orderBy: [{ field: 'count_count', direction: 'up' }] }, 'invalid direction'],
    [{ ...good, config: { row_limit: 1_001 } }, 'row_limit'],
    [{ ...good, config: { bins: 0 } }, 'bins'],
  ])(
    'is refused when invalid, with a message that lists what is allowed: %j',
    async (query, words) => {
      const { status, body } = await askMetrics(query as object);
      expect([status, body.message]).toEqual([400, expect.stringContaining(words)]);
    },
  );

  it('is required', async () => {
    expect((await ask('GET', '/metrics')).status).toBe(400);
  });

  it('cannot group by ids or read traces on the v2 route', async () => {
    const route = '/v2/metrics';
    expect(await metrics(good, route)).toEqual(await metrics(good));
    const ids = { ...good, dimensions: [{ field: 'traceId' }] };
    expect((await askMetrics(ids, route)).status).toBe(400);
    expect((await askMetrics({ ...good, view: 'traces' }, route)).status).toBe(400);
    expect(await metrics(ids)).toHaveLength(traces.length);
    expect(await metrics({ ...ids, config: { row_limit: 3 } })).toHaveLength(3);
  });
});

describe('daily metrics', () => {
  const days = async (query: string) => {
    const { status, body } = await ask('GET', `/metrics/daily?${query}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  };
  type Day = { date: string; countTraces: number; countObservations: number; totalCost: number };

  const expected = (ofTrace: (trace: (typeof traces)[number]) => boolean, from = 0, to = 1e15) => {
    const own = traces.filter(ofTrace);
    const isOwn = ({ trace, at }: Observation) =>
      own.some(({ index }) => index === trace) && at >= from && at < to;
    const within = observations.filter(isOwn);
    const dayOf = (ms: number) => iso(ms).slice(0, 10);
    const began = own.filter(({ at }) => at >= from && at < to);
    const all = [...new Set([...within, ...began].map(({ at }) => dayOf(at)))].sort().reverse();
    return all.map((date) => ({
      date,
      countTraces: began.filter(({ at }) => dayOf(at) === date).length,
      countObservations: within.filter(({ at }) => dayOf(at) === date).length,
      totalCost: total(
        within.filter(({ at }) => dayOf(at) === date),
        ({ cost }) => cost,
      ),
    }));
  };
  const plain = (body: Body) =>
    (body.data as unknown as Day[]).map(({ date, countTraces, countObservations, totalCost }) => ({
      ...{ date, countTraces, countObservations, totalCost },
    }));

  it('return the data that was sent, latest day first, page by page', async () => {
    const all = expected(() => true);
    const body = await days('limit=100');
    expect(plain(body)).toEqual(all);
    expect(body.meta.totalItems).toBe(all.length);
    expect(plain(await days('limit=2&page=2'))).toEqual(all.slice(2, 4));
    const [{ usage } = { usage: [] }] = body.data as { usage: Row[] }[];
    expect(usage.map(({ model }) => model)).toContain('model-1');
  });

  it('filter by time, user, trace name, environment and tags', async () => {
    const odd = [start + 7 * hourMs, start + 3 * dayMs + hourMs] as const;
    const times = `fromTimestamp=${iso(odd[0])}&toTimestamp=${iso(odd[1])}`;
    expect(plain(await days(times))).toEqual(expected(() => true, ...odd));
    expect(plain(await days(`${times}&userId=user-2`))).toEqual(
      expected(({ userId }) => userId === 'user-2', ...odd),
    );
    expect(plain(await days('traceName=name-1&environment=prod'))).toEqual(
      expected(({ name, environment }) => name === 'name-1' && environment === 'prod'),
    );
    expect(plain(await days('tags=a&tags=b'))).toEqual(expected(({ tags }) => tags.length === 2));
    expect(plain(await days('environment=none'))).toEqual([]);
  });

  it.each([
    'page=0',
    'limit=101',
    'fromTimestamp=yesterday',
    `${'fromTimestamp=2026-03-02T00:00:00Z'}&toTimestamp=2026-03-01T00:00:00Z`,
  ])('refuse an invalid query: %s', async (query) => {
    expect((await ask('GET', `/metrics/daily?${query}`)).status).toBe(400);
  });
});
