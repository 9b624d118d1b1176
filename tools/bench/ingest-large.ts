/**
 * Measures a project with much telemetry: how long reads take, and deletions during ingestion, whether the control
 * plane's memory is stable, and how fast sessions open meanwhile. The database may write a bulk of it itself, since
 * its speed is not measured; everything else is reported through the API.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createNotes } from '../../test/support/control/sessions.ts';
import { execute } from '../../test/support/database/sql.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { type Figure, median, percentile } from './figure.ts';
import {
  type Api,
  at,
  connect,
  eventOf,
  readBeside,
  spansOf,
  tellAll,
  tellBeside,
} from './ingest-tell.ts';
import { openOnce } from './open-beside-import.ts';

const spansOfTrace = 50;
const days = 30;
/**
 * Numbers of rows reported through the API: observations of one trace, traces of one session, and traces that are
 * deleted.
 */
const result = { observations: 10_000, traces: 20_000, deleted: 5_000 };
/** Minimum number of spans that are reported as a warm-up, so that all code has run before memory is first measured. */
const memoryFrom = 25_000;
/** Number of spans between two measurements of memory after the warm-up. */
const memoryEvery = 1_000_000;
const runs = 40;
const opens = 60;

/** Writes the bulk: traces of fifty observations each over a month, without input and output. */
const writeBulk = async (databaseUrl: string, projectId: string, spans: number): Promise<void> => {
  const traces = Math.ceil(spans / spansOfTrace);
  const began = `timestamptz '2026-06-01' + i * interval '${days} days' / ${traces}`;
  const week = `floor(extract(epoch from ${began}) / 604800)::int`;
  const [{ first, last } = { first: 0, last: 0 }] = await execute<{ first: number; last: number }>(
    databaseUrl,
    `select min(${week}) as first, max(${week}) as last from (values (0), (${traces})) as t(i)`,
  );
  for (let number = first; number <= last; number += 1) {
    await execute(
      databaseUrl,
      `create table if not exists observations_bulk_${number} partition of observations for values from (${number}) to (${number + 1})`,
    );
  }
  await execute(
    databaseUrl,
    `insert into traces (key, project_id, id, week, began_at, began_is_given, name, user_id, environment, clock)
     select md5('trace' || i)::uuid, '${projectId}', 'bulk-' || i, ${week}, ${began}, true, 'run ' || i % 20,
       'user-' || i % 1000, 'default', '{}' from generate_series(1, ${traces}) as i`,
  );
  await execute(
    databaseUrl,
    `insert into observations (trace_key, key, week, project_id, trace_id, id, began_at, began_is_given, type, name, model,
       input_usage, output_usage, total_usage, clock)
     select md5('trace' || i)::uuid, md5(i || '/' || n)::uuid, ${week}, '${projectId}', 'bulk-' || i, 'bulk-' || i || '-' || n,
       ${began} + n * interval '1 ms', true, 'GENERATION', 'step ' || n % 7, 'model-' || n % 3, 100, 50, 150, '{}'
     from generate_series(1, ${traces}) as i, generate_series(1, ${spansOfTrace}) as n`,
  );
  await execute(databaseUrl, 'analyze traces');
  await execute(databaseUrl, 'analyze observations');
};

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

const plain = { floor: null, peer: null, better: 'lower' } as const;

type Wants = (name: string) => boolean;
type Say = (line: string) => void;

/** A read, and the statement of its floor, whose rows are the database's own JSON read by the driver. */
type Read = { path: string; floor?: string };

const largeReads: Readonly<Record<string, Read>> = {
  'ingest.trace.get.10k': {
    path: '/traces/large',
    floor: `select to_json(o)::text from observations o
             where trace_key = (select key from traces where id = 'large') order by began_at, key`,
  },
  'ingest.session.get.20k': {
    path: '/sessions/long',
    floor: `select to_json(t)::text from traces t
             where session_key = (select key from trace_sessions where id = 'long') order by began_at, key`,
  },
};
const lists: Readonly<Record<string, Read>> = {
  'ingest.traces.list': { path: '/traces?limit=50' },
  'ingest.observations.list': { path: '/observations?limit=50' },
};

/** Measures the p95 of each wanted read. */
const readings = async (
  service: Network,
  databaseUrl: string,
  reads: Readonly<Record<string, Read>>,
  wants: Wants,
): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, { path, floor: text }] of Object.entries(reads)) {
    if (!wants(name)) continue;
    const floor = text === undefined ? undefined : { databaseUrl, text };
    const { samples, floors } = await readBeside({ service, path, runs, floor });
    const [value, least] = [percentile(samples, 0.95), percentile(floors, 0.95)];
    const figure = { name, value, unit: 'ms' as const, ...plain, target: 200 };
    figures.push({ ...figure, floor: text === undefined ? null : least });
  }
  return figures;
};

/** Reports a trace of many observations, a millisecond apart, and a session of many traces, a second apart. */
const tellLarge = (api: Api): Promise<void> => {
  const after = (ms: number): string => new Date(Date.parse(at) + ms).toISOString();
  const large = Array.from({ length: result.observations }, (_, i) => {
    const body = { traceId: 'large', name: `step ${i}`, startTime: after(i) };
    return eventOf('span-create', `large-${i}`, body);
  });
  const long = Array.from({ length: result.traces }, (_, i) => {
    const body = { sessionId: 'long', name: 'turn', timestamp: after(i * 1_000) };
    return eventOf('trace-create', `long-${i}`, body);
  });
  return tellAll(api, [...large, ...long].values());
};

/** Measures the deletion of traces by the thousand, during ingestion. */
const deleting = async (api: Api, network: Network): Promise<Figure> => {
  const count = result.deleted;
  await tellAll(api, spansOf('gone', count * 5));
  const stop = await tellBeside(network, 'beside');
  const startedAt = performance.now();
  for (let first = 0; first < count; first += 1_000) {
    const traceIds = Array.from({ length: 1_000 }, (_, i) => `gone-${first + i}`);
    await api.ask('DELETE', '/traces', { traceIds });
  }
  const value = performance.now() - startedAt;
  await stop();
  return { name: 'ingest.delete.5k', value, unit: 'ms', ...plain, target: null };
};

/**
 * Measures the control plane's memory after all spans in relation to that after the first fifth. By then the heap has
 * its working size.
 */
const memory = async (
  api: Api,
  { control: { pid } }: Network,
  spans: number,
  say: Say,
): Promise<Figure> => {
  const startedAt = performance.now();
  const first = Math.max(memoryFrom, Math.ceil(spans / 5));
  await tellAll(api, spansOf('warm', first));
  const before = residentMb(pid);
  say(`  ${before.toFixed(0)} MB after the first ${first} observations`);
  for (let done = 0; done < spans; done += memoryEvery) {
    await tellAll(api, spansOf(`steady-${done}`, Math.min(memoryEvery, spans - done)));
    const seconds = (performance.now() - startedAt) / 1_000;
    say(
      `  ${residentMb(pid).toFixed(0)} MB after ${first + Math.min(done + memoryEvery, spans)} in ${seconds.toFixed(0)} s`,
    );
  }
  await pause(2_000);
  const value = residentMb(pid) - before;
  return { name: 'ingest.rss.growth', value, unit: 'MB', ...plain, target: 50 };
};

/** Measures opens during ingestion and alone, in turns. */
const openings = async (network: Network): Promise<Figure> => {
  const samples = { alone: [] as number[], beside: [] as number[] };
  for (let turn = 0; samples.alone.length < opens; turn += 1) {
    for (let i = 0; i < 10; i += 1) samples.alone.push(...(await openOnce(network)));
    const stop = await tellBeside(network, `turn-${turn}`);
    for (let i = 0; i < 10; i += 1) samples.beside.push(...(await openOnce(network)));
    await stop();
  }
  const value = median(samples.beside) / median(samples.alone);
  return { name: 'ingest.beside.open', value, unit: 'x', ...plain, target: 1.5 };
};

/**
 * Measures the wanted figures on a database of its own, with this many observations in its project: those that the
 * database writes, and those reported through the API.
 */
export const benchIngestLarge = async (
  databaseUrl: string,
  spans: { written: number; result: number },
  wants: Wants,
  say: Say,
): Promise<Figure[]> => {
  const network = await startNetwork({ databaseUrl, poolSize: 2, poolMax: 2 });
  const figures: Figure[] = [];
  try {
    await createNotes(network.client);
    const [project] = await execute<{ id: string }>(databaseUrl, 'select id from projects limit 1');
    const api = connect(network);
    if (spans.written > 0) {
      say(`  writing ${spans.written} observations`);
      await writeBulk(databaseUrl, project?.id ?? '', spans.written);
    }
    if (wants('ingest.rss.growth')) {
      say(`  reporting ${spans.result} observations`);
      figures.push(await memory(api, network, spans.result, say));
    }
    if (Object.keys(largeReads).some(wants)) {
      await tellLarge(api);
      figures.push(...(await readings(network, databaseUrl, largeReads, wants)));
    }
    figures.push(...(await readings(network, databaseUrl, lists, wants)));
    if (wants('ingest.delete.5k')) figures.push(await deleting(api, network));
    if (wants('ingest.beside.open')) figures.push(await openings(network));
    return figures;
  } finally {
    await network.stop();
  }
};

/** Names of the figures that this benchmark measures. */
export const ingestLargeNames = [
  'ingest.rss.growth',
  ...Object.keys(largeReads),
  ...Object.keys(lists),
  'ingest.delete.5k',
  'ingest.beside.open',
];
