/**
 * Tests the daily and hourly rollups. After any order of sends, changes, moves, deletions and rollups, metrics equal
 * those that a plain model computes from the stored rows.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { deleteTraces, ingest } from '#wire/public-api/operations.ts';
import { type Database, openDatabase, tracePool } from '../../../src/control/db/core/database.ts';
import { rollUpOneDay } from '../../../src/control/db/observability/rollup-job.ts';
import { readDailyMetrics } from '../../../src/control/observability/metrics/daily.ts';
import {
  olderRules,
  readMetricsQuery,
} from '../../../src/control/observability/metrics/read-query.ts';
import { runMetricsQuery } from '../../../src/control/observability/metrics/run.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { projectIdOf } from '../../support/control/settings.ts';
import { testDatabase } from '../../support/database/postgres.ts';

let control: StartedControl;
let db: Database;
let projectId: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  db = openDatabase(new Secret(database.url), createLog('test', 'silent'), tracePool);
  projectId = await projectIdOf(control);
  drop = database.drop;
});
afterAll(async () => {
  await db.close();
  await control.stop();
  await drop();
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const start = Date.UTC(2026, 2, 1);
const iso = (ms: number): string => new Date(ms).toISOString();

let sent = 0;
const send = async (...result: [type: string, body: object][]): Promise<void> => {
  const batch = result.map(([type, body]) => {
    sent += 1;
    // Each event is later than the one before, so that the newest report wins, also after a deletion.
    return { id: `event-${sent}`, type, timestamp: iso(Date.now() + sent * 10), body };
  });
  const { body } = await control.send(ingest, { body: { batch } });
  expect(body.errors).toEqual([]);
};

const rollAll = async (): Promise<void> => {
  const rules = { restSeconds: 0, leastObservations: 1, mostShare: 1 };
  while (await rollUpOneDay(db, rules));
};

const few = <Value>(...values: Value[]) => fc.constantFrom(...values);
const trace = fc.integer({ min: 0, max: 3 });
const described = {
  name: few('plan', 'act', undefined),
  model: few('m1', 'm2', undefined),
  level: few('ERROR', 'DEFAULT', undefined),
  environment: few('prod', undefined),
  hour: fc.oneof(fc.integer({ min: 0, max: 80 }), few(22, 23, 24, 25)),
  tookMs: few(0, 3, 250, 90_000, undefined),
  tokens: few(0, 7, 1_000, undefined),
};

type Step =
  | { kind: 'observation'; id: number; trace: number; of: { [key: string]: unknown } }
  | { kind: 'trace'; trace: number; userId: string; name: string; environment: string }
  | { kind: 'delete'; trace: number }
  | { kind: 'roll' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('observation' as const),
      id: fc.integer({ min: 0, max: 15 }),
      trace,
      of: fc.record(described),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('trace' as const),
      trace,
      userId: few('u1', 'u2'),
      name: few('run', 'walk'),
      environment: few('prod', 'test'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), trace }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('roll' as const) }) },
);

const take = async (one: Step): Promise<void> => {
  if (one.kind === 'roll') return rollAll();
  if (one.kind === 'delete') {
    await control.send(deleteTraces, { body: { traceIds: [`t${one.trace}`] } });
    return;
  }
  if (one.kind === 'trace') {
    const { kind, trace: number, ...rest } = one;
    const timestamp = iso(start + number * 7 * hourMs);
    return send(['trace-create', { id: `t${number}`, timestamp, ...rest }]);
  }
  const { hour, tookMs, tokens, ...rest } = one.of as { hour: number } & Record<string, unknown>;
  const at = start + hour * hourMs + one.id * 60_000;
  const ended = tookMs === undefined ? {} : { endTime: iso(at + Number(tookMs)) };
  const used =
    tokens === undefined
      ? {}
      : { usageDetails: { input: tokens }, costDetails: { input: Number(tokens) / 8 } };
  await send([
    'generation-create',
    // An observation belongs to one trace, so another trace makes another id.
    ...([
      { id: `o${one.id}-${one.trace}`, traceId: `t${one.trace}`, startTime: iso(at), ...rest },
    ].map((body) => ({ ...body, ...ended, ...used })) as [object]),
  ]);
};

type Row = {
  at: number;
  name: string | null;
  level: string;
  environment: string;
  providedModelName: string | null;
  userId: string | null;
  tokens: number;
  cost: number;
  latency: number | null;
};

const readRows = (): Promise<Row[]> =>
  control.sql<Row>(`select extract(epoch from o.began_at)::float8 * 1000 as at, o.name, coalesce(o.level, 'DEFAULT') as level,
      coalesce(o.environment, 'default') as environment, o.model as "providedModelName", t.user_id as "userId",
      coalesce(o.total_usage, 0)::float8 as tokens, coalesce(o.total_cost, 0) as cost,
      extract(epoch from o.end_time - o.began_at)::float8 * 1000 as latency
    from observations o left join traces t on t.key = o.trace_key`);

type Question = {
  dimensions: (keyof Row & string)[];
  granularity: 'hour' | 'day' | undefined;
  level: string | undefined;
  from: number;
  to: number;
  hasPercentile: boolean;
};

const question: fc.Arbitrary<Question> = fc
  .record({
    dimensions: few<(keyof Row & string)[]>(
      [],
      ['name'],
      ['name', 'environment'],
      ['providedModelName', 'level'],
      ['userId'],
      ['userId', 'name'],
    ),
    granularity: few('hour' as const, 'day' as const, undefined),
    level: few('ERROR', undefined),
    from: few(0, 5 * hourMs, dayMs),
    to: few(4 * dayMs, 3 * dayMs + 7 * hourMs, 2 * dayMs),
    hasPercentile: fc.boolean(),
  })
  .map((one) => ({ ...one, from: start + one.from, to: start + one.to }));

const p95 = (values: readonly number[]): number | null =>
  [...values].sort((one, other) => one - other)[Math.floor(0.95 * (values.length - 1))] ?? null;

/** Computes the expected metrics from the stored rows. */
const modelOf = (rows: readonly Row[], asked: Question) => {
  const step = asked.granularity === 'hour' ? hourMs : dayMs;
  const chosen = rows.filter(
    ({ at, level }) =>
      at >= asked.from && at < asked.to && (asked.level === undefined || level === asked.level),
  );
  const keyOf = (row: Row) =>
    JSON.stringify([
      ...asked.dimensions.map((name) => row[name]),
      ...(asked.granularity === undefined ? [] : [iso(Math.floor(row.at / step) * step)]),
    ]);
  return new Map(
    [...Map.groupBy(chosen, keyOf)].map(([key, group]) => {
      const latencies = group.flatMap(({ latency }) => latency ?? []);
      const sum = (of: (row: Row) => number) => group.reduce((all, row) => all + of(row), 0);
      return [
        key,
        {
          count: group.length,
          tokens: sum(({ tokens }) => tokens),
          cost: sum(({ cost }) => cost),
          longest: latencies.length === 0 ? null : Math.max(...latencies),
          p95: p95(latencies),
        },
      ];
    }),
  );
};

const askFor = async (asked: Question) => {
  const { dimensions, granularity, level, from, to, hasPercentile } = asked;
  const filters =
    level === undefined ? [] : [{ type: 'string', column: 'level', operator: '=', value: level }];
  const query = {
    view: 'observations',
    metrics: [
      { measure: 'count', aggregation: 'count' },
      { measure: 'totalTokens', aggregation: 'sum' },
      { measure: 'totalCost', aggregation: 'sum' },
      { measure: 'latency', aggregation: 'max' },
      ...(hasPercentile ? [{ measure: 'latency', aggregation: 'p95' }] : []),
    ],
    dimensions: dimensions.map((field) => ({ field })),
    ...(granularity === undefined ? {} : { timeDimension: { granularity } }),
    ...{ filters, fromTimestamp: iso(from), toTimestamp: iso(to) },
    // Ordered by count, so that gaps in time are not filled.
    orderBy: [{ field: 'count_count', direction: 'desc' }],
  };
  const read = readMetricsQuery(JSON.stringify(query), olderRules);
  const rows = await runMetricsQuery(db, projectId, read, 0);
  return new Map(
    rows.map((row) => {
      const key = [...dimensions, ...(granularity === undefined ? [] : ['time_dimension'])];
      return [JSON.stringify(key.map((name) => row[name])), row];
    }),
  );
};

const expectRight = async (asked: Question): Promise<void> => {
  const model = modelOf(await readRows(), asked);
  const answered = await askFor(asked);
  const isNothing = asked.dimensions.length === 0 && asked.granularity === undefined;
  if (!(isNothing && model.size === 0)) {
    expect([...answered.keys()].sort()).toEqual([...model.keys()].sort());
  }
  const { hasPercentile, granularity, dimensions } = asked;
  const isFromBuckets = hasPercentile && granularity !== 'hour' && !dimensions.includes('userId');
  for (const [key, group] of model) {
    const row = answered.get(key);
    expect(row).toMatchObject({ count_count: group.count, sum_totalTokens: group.tokens });
    expect(row?.sum_totalCost).toBeCloseTo(group.cost, 9);
    if (group.longest === null) expect(row?.max_latency).toBeNull();
    else expect(row?.max_latency).toBeCloseTo(group.longest, 6);
    if (!isFromBuckets) continue;
    const most = Math.abs(group.p95 ?? 0) * 0.0101 + 1e-9;
    if (group.p95 === null) expect(row?.p95_latency).toBeNull();
    else expect(Math.abs(Number(row?.p95_latency) - group.p95)).toBeLessThanOrEqual(most);
  }
};

type DayQuestion = { from: number; to: number; traceName?: string; environment?: string };

const minuteMs = 60_000;
/** Times within the four days of the events, also in the middle of an hour that has events. */
const time = fc
  .tuple(fc.oneof(fc.integer({ min: 0, max: 96 }), few(22, 23, 24, 25)), few(0, 0, 4, 8, 12))
  .map(([hour, minute]) => hour * hourMs + minute * minuteMs);
const dayQuestion: fc.Arbitrary<DayQuestion> = fc
  .record({
    times: fc.tuple(time, time),
    traceName: few('run', undefined, undefined),
    environment: few('prod', 'default', undefined, undefined),
  })
  .map(({ times: [one, other], traceName, environment }) => ({
    from: start + Math.min(one, other),
    to: start + Math.max(one, other) + minuteMs,
    ...(traceName === undefined ? {} : { traceName }),
    ...(environment === undefined ? {} : { environment }),
  }));

type TracePart = { at: number; trace: string; name: string | null; environment: string };
type ObservationPart = TracePart & { model: string | null; tokens: number; cost: number };

const ofTrace = `t.id as trace, t.name, coalesce(t.environment, 'default') as environment`;
const readTraces = (): Promise<TracePart[]> =>
  control.sql(
    `select extract(epoch from t.began_at)::float8 * 1000 as at, ${ofTrace} from traces t`,
  );
const readObservations = (): Promise<ObservationPart[]> =>
  control.sql(`select extract(epoch from o.began_at)::float8 * 1000 as at, ${ofTrace}, o.model,
      coalesce(o.total_usage, 0)::float8 as tokens, coalesce(o.total_cost, 0) as cost
    from observations o join traces t on t.key = o.trace_key`);

const expectRightDays = async (asked: DayQuestion): Promise<void> => {
  const { from, to, traceName, environment } = asked;
  const isAsked = (one: TracePart): boolean =>
    one.at >= from &&
    one.at < to &&
    (traceName === undefined || one.name === traceName) &&
    (environment === undefined || one.environment === environment);
  const dayOf = ({ at }: TracePart): string => iso(at).slice(0, 10);
  const [traces, observations] = [await readTraces(), await readObservations()].map((all) =>
    Map.groupBy((all as ObservationPart[]).filter(isAsked), dayOf),
  );
  const sum = (all: readonly ObservationPart[], of: (one: ObservationPart) => number): number =>
    Math.round(all.reduce((total, one) => total + of(one), 0) * 1e9) / 1e9;
  const found = [...new Set([...(traces?.keys() ?? []), ...(observations?.keys() ?? [])])];
  const model = found.sort().map((date) => {
    const own = observations?.get(date) ?? [];
    const usage = [...Map.groupBy(own, ({ model }) => model)].map(([name, all]) => ({
      model: name,
      tokens: sum(all, ({ tokens }) => tokens),
      cost: sum(all, ({ cost }) => cost),
      observations: all.length,
      traces: new Set(all.map(({ trace }) => trace)).size,
    }));
    const counts = { traces: traces?.get(date)?.length ?? 0, observations: own.length };
    return { date, ...counts, cost: sum(own, ({ cost }) => cost), usage: byModel(usage) };
  });
  const query = {
    ...{ fromTimestamp: iso(from), toTimestamp: iso(to), limit: '100' },
    ...(traceName === undefined ? {} : { traceName }),
    ...(environment === undefined ? {} : { environment }),
  };
  const { data } = await readDailyMetrics(db, projectId, query);
  const rounded = (cost: number): number => Math.round(cost * 1e9) / 1e9;
  const answered = data.reverse().map((one) => ({
    ...{ date: one.date, traces: one.countTraces, observations: one.countObservations },
    cost: rounded(one.totalCost),
    usage: byModel(
      one.usage.map((used) => ({
        ...{ model: used.model, tokens: used.totalUsage, cost: rounded(used.totalCost) },
        ...{ observations: used.countObservations, traces: used.countTraces },
      })),
    ),
  }));
  expect(answered).toEqual(model);
};

const byModel = <Used extends { model: string | null }>(usage: Used[]): Used[] =>
  usage.sort((one, other) => (one.model ?? '').localeCompare(other.model ?? ''));

describe('daily rollups', () => {
  it('give the same metrics as a plain model of the rows, whenever they are built', async () => {
    let fromCells = 0;
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 25 }),
      fc.array(question, { minLength: 4, maxLength: 6 }),
      fc.array(dayQuestion, { minLength: 5, maxLength: 8 }),
      async (steps, questions, dayQuestions) => {
        for (const one of steps) await take(one);
        for (const asked of questions) await expectRight(asked);
        for (const asked of dayQuestions) await expectRightDays(asked);
        await rollAll();
        const [kept] = await control.sql<{ days: number }>(
          `select count(*)::int as days from day_rolls where cardinality(kept) > 0`,
        );
        fromCells += kept?.days ?? 0;
        for (const asked of questions) await expectRight(asked);
        for (const asked of dayQuestions) await expectRightDays(asked);
      },
    );
    await fc.assert(property, { numRuns: 25 });
    expect(fromCells).toBeGreaterThan(0);
  });
});
