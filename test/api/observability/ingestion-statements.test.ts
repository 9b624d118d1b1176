/** Tests the SQL statements that write ingested batches: which rows they read, and how many they write at once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readBatch } from '#observability/read-batch.ts';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import {
  type Database,
  openDatabase,
  statement,
  tracePool,
} from '../../../src/control/db/core/database.ts';
import { ingest } from '../../../src/control/observability/ingestion/ingest.ts';
import {
  openTraceStore,
  type TraceStore,
} from '../../../src/control/observability/ingestion/store.ts';
import { createPriceBook } from '../../../src/control/observability/models/price-book.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';

const log = createLog('test', 'silent');
const noPrices = createPriceBook(async () => []);
const projectId = 'prj';

let database: TestDatabase;
let db: Database;
let store: TraceStore;

beforeAll(async () => {
  database = await testDatabase();
  await execute(
    database.url,
    `insert into organizations (id, slug, name) values ('org', 'org', 'org');
     insert into projects (id, organization_id, slug, name) values ('prj', 'org', 'prj', 'prj')`,
  );
  db = openDatabase(new Secret(database.url), log, tracePool);
  store = openTraceStore(db, noPrices);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

let made = 0;

const spanEvent = (type: 'span-create' | 'span-update', id: string, traceId: string) => {
  made += 1;
  const timestamp = new Date(Date.UTC(2026, 2, 1) + made).toISOString();
  return { id: `event-${made}`, type, timestamp, body: { id, traceId, name: `step ${made}` } };
};

const take = async (to: TraceStore, batch: readonly object[]): Promise<void> => {
  const caller = { projectId, level: 'secret' } as const;
  const { errors } = await ingest(to, caller, readBatch(batch), log);
  expect(errors).toEqual([]);
};

const idsOf = (trace: string, spans: number): string[] =>
  Array.from({ length: spans }, (_, i) => `${trace}-${i}`);

/** Makes PostgreSQL publish the statistics of this connection, so that other connections see them. */
const flushStatement = statement('flush_statistics', 'select pg_stat_force_next_flush()');

it('ingestion statements scan no table, though they were planned on empty tables without statistics', async () => {
  await execute(database.url, 'alter table traces set (autovacuum_enabled = false)');
  for (let n = 0; n < 12; n += 1) {
    const traces = Array.from({ length: 40 }, (_, i) => `trace-${n}-${i}`);
    const spans = traces.flatMap((trace) => idsOf(trace, 3).map((id) => [id, trace] as const));
    await take(
      store,
      spans.map(([id, trace]) => spanEvent('span-create', id, trace)),
    );
    await take(
      store,
      spans.map(([id, trace]) => spanEvent('span-update', id, trace)),
    );
  }
  await db.query(flushStatement, []);
  const read = await execute(
    database.url,
    `select relname as "table", seq_tup_read::int as "rows" from pg_stat_user_tables
      where (relname = 'traces' or relname like 'observations_w%') and n_tup_ins > 0`,
  );
  expect(read.map(({ rows }: { rows?: number }) => rows)).toEqual(read.map(() => 0));
  expect(read.length).toBeGreaterThanOrEqual(2);
});

it('a batch of events is written in one statement, and in several smaller ones for a while after a session was opened', async () => {
  const written: string[] = [];
  const noting: Database = {
    ...db,
    transaction: (work, planning) =>
      db.transaction(
        (tx) =>
          work({
            query: (given, values) => {
              if (given.name === 'update_observations') written.push('update');
              return tx.query(given, values);
            },
            copyIn: (name, text, bytes) => {
              written.push('copy');
              return tx.copyIn(name, text, bytes);
            },
          }),
        planning,
      ),
  };
  const noted = openTraceStore(noting, noPrices);
  const tell = async (type: 'span-create' | 'span-update', trace: string) => {
    await take(
      noted,
      idsOf(trace, 120).map((id) => spanEvent(type, id, trace)),
    );
    return written.splice(0);
  };
  expect(await tell('span-create', 'whole')).toEqual(['copy']);
  expect(await tell('span-update', 'whole')).toEqual(['update']);
  await noted.openPriority.during(async () => undefined);
  expect(await tell('span-create', 'pieces')).toEqual(['copy', 'copy', 'copy']);
  expect(await tell('span-update', 'pieces')).toEqual(['update', 'update', 'update']);
  const [row] = await execute<{ count: number; names: number }>(
    database.url,
    `select count(*)::int as count, count(distinct name)::int as names from observations
      where trace_id = 'pieces'`,
  );
  expect(row).toEqual({ count: 120, names: 120 });
});
