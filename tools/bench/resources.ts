/**
 * Measures resources of a project with very many rows: lists with each filter, metrics over 30 days, and daily
 * metrics. Requests pass through the whole API without a socket. The floor of a list is the same list without a
 * filter.
 */
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { basicAuthorization } from '#wire/client.ts';
import { ingest } from '#wire/public-api/operations.ts';
import { openDatabase, tracePool } from '../../src/control/db/core/database.ts';
import { rollUpOneDay } from '../../src/control/db/observability/rollup-job.ts';
import { rollupRules } from '../../src/control/observability/metrics/rollup-loop.ts';
import { startTestControl, type TestControl } from '../../test/support/control/control.ts';
import { projectIdOf } from '../../test/support/control/settings.ts';
import { type Figure, percentile, sample } from './figure.ts';
import { days, makeRows } from './resources-rows.ts';

const listRuns = 20;
const metricRuns = 5;
const dayMs = 86_400_000;

type Target = { name: string; path: string; runs: number; share: number; targetMs: number };

const lists: Readonly<Record<string, Record<string, string>>> = {
  traces: {
    all: '',
    user: 'userId=user-7',
    name: 'name=name-3',
    tags: 'tags=tag-3',
    environment: 'environment=test',
    time: 'fromTimestamp=:mid&toTimestamp=:end',
  },
  observations: {
    all: '',
    trace: 'traceId=trace-77',
    name: 'name=step-3',
    type: 'type=GENERATION',
    level: 'level=ERROR',
    user: 'userId=user-7',
    environment: 'environment=test',
    time: 'fromStartTime=:mid&toStartTime=:end',
  },
  scores: {
    all: '',
    name: 'name=score-3',
    trace: 'traceId=trace-77',
    value: 'value=0.5&operator=>',
  },
};

const sum = (measure: string) => ({ measure, aggregation: 'sum' });
const count = { measure: 'count', aggregation: 'count' };

/** Metric queries by name. Daily rollups answer those whose name begins with `kept.`, raw rows those with `rows.`. */
const questions: Readonly<Record<string, object>> = {
  'kept.models': {
    ...{ view: 'observations', metrics: [sum('totalCost'), count] },
    dimensions: [{ field: 'providedModelName' }],
  },
  'kept.days': {
    ...{ view: 'observations', metrics: [sum('totalTokens')] },
    ...{ dimensions: [{ field: 'traceName' }], timeDimension: { granularity: 'day' } },
  },
  'rows.names': {
    ...{ view: 'observations', metrics: [count, sum('totalCost')] },
    dimensions: [{ field: 'name' }],
  },
  'rows.hours': {
    ...{ view: 'observations', metrics: [count], timeDimension: { granularity: 'hour' } },
  },
  'rows.latency': {
    ...{ view: 'observations', metrics: [{ measure: 'latency', aggregation: 'p95' }] },
    dimensions: [{ field: 'providedModelName' }],
  },
  'rows.users': {
    ...{ view: 'observations', metrics: [sum('totalCost')], config: { row_limit: 10 } },
    dimensions: [{ field: 'userId' }],
  },
  'rows.traces': {
    ...{ view: 'traces', metrics: [{ measure: 'uniqueUserIds', aggregation: 'uniq' }, count] },
    dimensions: [{ field: 'environment' }],
  },
};

const targetsOf = (endMs: number): Target[] => {
  // The range does not end at ends of days, so that rows of the partial days are read, too.
  const [from, to] = [endMs - days * dayMs + 3_600_000, endMs - 1_800_000];
  const times = {
    fromTimestamp: new Date(from).toISOString(),
    toTimestamp: new Date(to).toISOString(),
  };
  const mid = new Date(endMs - (days / 2) * dayMs).toISOString();
  const listed = Object.entries(lists).flatMap(([list, filters]) =>
    Object.entries(filters).map(([filter, query]) => {
      const filled = query.replace(':mid', mid).replace(':end', times.toTimestamp);
      const path = `/${list}?limit=50&${filled}`;
      return { name: `list.${list}.${filter}`, path, runs: listRuns, share: 0.95, targetMs: 100 };
    }),
  );
  const asked = Object.entries(questions).map(([name, question]) => {
    const path = `/metrics?query=${encodeURIComponent(JSON.stringify({ ...question, ...times }))}`;
    return { name: `metrics.${name}`, path, runs: metricRuns, share: 0.5, targetMs: 2_000 };
  });
  const daily = {
    name: 'daily',
    path: `/metrics/daily?fromTimestamp=${times.fromTimestamp}`,
    ...{ runs: listRuns, share: 0.95, targetMs: 200 },
  };
  // Begins early on the first day, so that nearly all of it is read.
  const midnight = Math.ceil(from / dayMs) * dayMs;
  const early = new Date(midnight + 20 * 60_000).toISOString();
  const path = `/metrics/daily?fromTimestamp=${early}`;
  return [...listed, ...asked, daily, { ...daily, name: 'daily.early', path }];
};

const measure = async (control: TestControl, target: Target): Promise<number | undefined> => {
  const authorization = basicAuthorization(control.publicKey, control.secretKey);
  let status = 0;
  const ask = async () => {
    const path = `/api/public${target.path}`;
    ({ status } = await control.raw({ method: 'GET', path, headers: { authorization } }));
  };
  await ask();
  // A query that takes too long is answered 524, and has no figure.
  if (status === 524) return undefined;
  if (status !== 200) throw new Error(`${target.path} answered ${status}`);
  return percentile(await sample(target.runs, ask), target.share);
};

/** Builds the daily rollups, as the control plane does a minute after the last write. */
const rollDays = async (databaseUrl: string, say: (line: string) => void): Promise<void> => {
  const db = openDatabase(new Secret(databaseUrl), createLog('bench', 'warn'), tracePool);
  const began = performance.now();
  let days = 0;
  while (await rollUpOneDay(db, { ...rollupRules, restSeconds: 0 })) days += 1;
  await db.close();
  say(`built the rollups of ${days} days in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
};

/** Measures on a database of its own. */
export const benchResources = async (
  databaseUrl: string,
  rows: number,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const control = await startTestControl({ databaseUrl });
  try {
    const event = { id: 'e', type: 'sdk-log', timestamp: new Date().toISOString(), body: {} };
    const trace = { ...event, id: 't', type: 'trace-create', body: { id: 'first', name: 'first' } };
    await control.send(ingest, { body: { batch: [event, trace] } });
    const endMs = Date.now();
    await makeRows(databaseUrl, { projectId: await projectIdOf(control), rows, endMs }, say);
    await rollDays(databaseUrl, say);
    const figures: Figure[] = [];
    const floors = new Map<string, number>();
    for (const target of targetsOf(endMs)) {
      const value = await measure(control, target);
      if (value === undefined) {
        say(`${target.name}: 524, it takes too long`);
        continue;
      }
      const [, list = ''] = target.name.split('.');
      if (target.name.endsWith('.all')) floors.set(list, value);
      const floor = target.name.startsWith('list.') ? (floors.get(list) ?? null) : null;
      const { targetMs } = target;
      const name = `resources.${target.name}`;
      figures.push({
        name,
        value,
        unit: 'ms',
        floor,
        peer: null,
        target: targetMs,
        better: 'lower',
      });
    }
    return figures;
  } finally {
    await control.stop();
  }
};
