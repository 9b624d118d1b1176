/**
 * Measures ingestion: events read, merged and written. The floor is COPY of the same rows into tables with the same
 * columns and indexes. Both are measured in processor time of this process and of the server, as both share a machine
 * with others. A third as many events are ingested beforehand, since code that has not run yet would slow the rest.
 * COPY runs several times, as single runs differ by a tenth.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBatch } from '#observability/read-batch.ts';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { putNewObjectsAmongYoung } from '#runtime/young-objects.ts';
import { openDatabase, tracePool } from '../../src/control/db/core/database.ts';
import { ingest } from '../../src/control/observability/ingestion/ingest.ts';
import { openTraceStore } from '../../src/control/observability/ingestion/store.ts';
import { createPriceBook } from '../../src/control/observability/models/price-book.ts';
import { execute } from '../../test/support/database/sql.ts';
import type { Figure } from './figure.ts';
import { readProcessorTime } from './processor-time.ts';

const warmUp = 200;
const batches = 600;
const copies = 3;
const spansOfBatch = 100;
const spans = batches * spansOfBatch;
const input = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(600) }] });

/** Builds a batch as an SDK sends it: each span is created and updated, and their trace is created. */
const batchOf = (number: number): string => {
  const traceId = `trace-${number}`;
  const at = (ms: number) => new Date(Date.UTC(2026, 2, 1) + number * 1_000 + ms).toISOString();
  const event = (id: string, type: string, ms: number, body: object) => ({
    id: `${traceId}-${id}`,
    type,
    timestamp: at(ms),
    body,
  });
  const spanEvents = Array.from({ length: spansOfBatch }, (_, i) => [
    event(`c${i}`, 'generation-create', i, {
      id: `${traceId}-span-${i}`,
      traceId,
      name: `step ${i % 7}`,
      startTime: at(i),
      model: 'model-1',
      input: JSON.parse(input),
    }),
    event(`u${i}`, 'generation-update', i + 1, {
      id: `${traceId}-span-${i}`,
      traceId,
      endTime: at(i + 5),
      output: { role: 'assistant', content: 'y'.repeat(300) },
      usage: { input: 100, output: 50 },
    }),
  ]);
  const trace = event('t', 'trace-create', 0, { id: traceId, name: 'run', userId: 'u' });
  return JSON.stringify({ batch: [trace, ...spanEvents.flat()] });
};

type Took = { seconds: number; processorMs: number };

/** Measures work: time, and processor time of this process and of the server. */
const take = async (serverPid: number, work: () => Promise<unknown>): Promise<Took> => {
  const usedBy = () => {
    const [server] = readProcessorTime([serverPid]);
    const { user, system } = process.cpuUsage();
    return (server?.ownMs ?? 0) + (server?.startedMs ?? 0) + (user + system) / 1_000;
  };
  const [begin, used] = [performance.now(), usedBy()];
  await work();
  return { seconds: (performance.now() - begin) / 1_000, processorMs: usedBy() - used };
};

const ingestAll = async (databaseUrl: string, serverPid: number): Promise<Took> => {
  const log = createLog('bench', 'silent');
  const store = openTraceStore(
    openDatabase(new Secret(databaseUrl), log, tracePool),
    createPriceBook(async () => []),
  );
  const texts = Array.from({ length: batches }, (_, number) => batchOf(number));
  const caller = { projectId: 'prj-bench', level: 'secret' as const };
  const sender = async (texts: string[]): Promise<void> => {
    for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
      const { errors } = await ingest(store, caller, readBatch(JSON.parse(text).batch), log);
      if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
    }
  };
  try {
    await store.weeks.current();
    const first = Array.from({ length: warmUp }, (_, number) => batchOf(batches + number));
    await Promise.all([sender(first), sender(first), sender(first), sender(first)]);
    return await take(serverPid, () =>
      Promise.all([sender(texts), sender(texts), sender(texts), sender(texts)]),
    );
  } finally {
    await store.db.close();
  }
};

/**
 * Measures COPY of the written rows from files into tables like theirs: observations, and the few traces; returns the
 * mean.
 */
const copyAll = async (databaseUrl: string, serverPid: number, dir: string): Promise<Took> => {
  const tables = ['observations', 'traces'];
  const fileOf = (table: string): string => join(dir, `${table}.copy`);
  for (const table of tables) {
    await execute(databaseUrl, `copy (select * from ${table}) to '${fileOf(table)}'`);
    await execute(databaseUrl, `create table copied_${table} (like ${table} including all)`);
    await readFile(fileOf(table)); // So that the file is in memory, as ingested events are.
  }
  const copyOnce = async (): Promise<void> => {
    for (const table of tables) {
      await execute(databaseUrl, `copy copied_${table} from '${fileOf(table)}'`);
    }
  };
  const all: Took = { seconds: 0, processorMs: 0 };
  for (let copy = 0; copy < copies; copy += 1) {
    const { seconds, processorMs } = await take(serverPid, copyOnce);
    all.seconds += seconds / copies;
    all.processorMs += processorMs / copies;
    await execute(databaseUrl, `truncate ${tables.map((table) => `copied_${table}`).join(', ')}`);
  }
  return all;
};

/** Measures ingestion on a database of its own; the server must be able to write to the folder `dir`. */
export const benchIngest = async (
  databaseUrl: string,
  { pid }: { pid: number },
  dir: string,
): Promise<Figure[]> => {
  putNewObjectsAmongYoung();
  const taken = await ingestAll(databaseUrl, pid);
  const [row] = await execute<{ count: number }>(
    databaseUrl,
    'select count(*)::int as count from observations',
  );
  const all = spans + warmUp * spansOfBatch;
  if (row?.count !== all) throw new Error(`${row?.count} observations of ${all}`);
  const copied = await copyAll(databaseUrl, pid, dir);
  const rate = spans / taken.seconds;
  const floor = all / copied.seconds;
  return [
    {
      name: 'ingest.rows',
      value: rate,
      unit: 'rows/s',
      floor,
      peer: null,
      target: 0.3 * floor,
      better: 'higher',
    },
    {
      name: 'ingest.processor',
      value: taken.processorMs / spans,
      unit: 'ms',
      floor: copied.processorMs / all,
      peer: null,
      target: copied.processorMs / all / 0.3,
      better: 'lower',
    },
  ];
};
