/** Requests of one project that come at once: written together, and each as if it had come alone. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readBatch } from '#observability/read-batch.ts';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { type Database, openDatabase, tracePool } from '../../src/control/db/database.ts';
import { ingest } from '../../src/control/ingestion/ingest.ts';
import { openTraceStore, type TraceStore } from '../../src/control/ingestion/store.ts';
import { createPriceBook } from '../../src/control/models/price-book.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { execute } from '../support/sql.ts';

const log = createLog('test', 'silent');

let database: TestDatabase;
let db: Database;
let store: TraceStore;
let transactions = 0;

beforeAll(async () => {
  database = await testDatabase();
  await execute(
    database.url,
    `insert into organizations (id, slug, name) values ('org', 'org', 'org');
     insert into projects (id, organization_id, slug, name)
       select name, 'org', name, name from unnest(array['one', 'other', 'again']) as given(name)`,
  );
  db = openDatabase(new Secret(database.url), log, tracePool);
  const counting: Database = {
    ...db,
    transaction: (work, planning) => {
      transactions += 1;
      return db.transaction(work, planning);
    },
  };
  store = openTraceStore(
    counting,
    createPriceBook(async () => undefined),
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const timestamp = new Date(Date.UTC(2026, 2, 1)).toISOString();

const eventOf = (type: string, id: string, body: object) => ({ id, type, timestamp, body });

const spansOf = (sender: number, traceId: string): object[] =>
  Array.from({ length: 40 }, (_, i) =>
    eventOf('span-create', `event-${sender}-${i}`, { id: `span-${sender}-${i}`, traceId }),
  );

const send = async (projectId: string, batch: readonly object[]) => {
  const caller = { projectId, level: 'secret' } as const;
  return ingest(store, caller, readBatch(batch), log);
};

const senders = Array.from({ length: 20 }, (_, number) => number);

const countIn = async (projectId: string) => {
  const [row] = await execute<{ spans: number; traces: number; events: number }>(
    database.url,
    `select (select count(*)::int from observations where project_id = '${projectId}') as spans,
            (select count(*)::int from traces where project_id = '${projectId}') as traces,
            (select sum(events)::int from daily_usage where project_id = '${projectId}') as events`,
  );
  return row;
};

it('are written in fewer transactions, with nothing lost and nothing counted twice', async () => {
  await store.weeks.current();
  transactions = 0;
  const sent = senders.flatMap((sender) => [
    send('one', [...spansOf(sender, 'trace'), eventOf('span-create', `bad-${sender}`, { id: 7 })]),
    send('other', spansOf(sender, `trace-${sender}`)),
  ]);
  for (const [index, { successes, errors }] of (await Promise.all(sent)).entries()) {
    expect(successes).toHaveLength(40);
    expect(errors.map(({ id }) => id)).toEqual(
      index % 2 === 0 ? [`bad-${Math.floor(index / 2)}`] : [],
    );
  }
  expect(await countIn('one')).toEqual({ spans: 800, traces: 1, events: 800 });
  expect(await countIn('other')).toEqual({ spans: 800, traces: 20, events: 800 });
  expect(transactions).toBeLessThan(senders.length);
});

it('take an event once that several of them send', async () => {
  const batch = [
    ...spansOf(0, 'trace'),
    eventOf('score-create', 'event-score', { id: 'score', traceId: 'trace', name: 's', value: 1 }),
  ];
  const sent = await Promise.all(senders.map(() => send('again', batch)));
  expect(sent.map(({ successes }) => successes.length)).toEqual(senders.map(() => 41));
  expect(await countIn('again')).toEqual({ spans: 40, traces: 1, events: 41 });
  const scores = await execute(database.url, `select id, value from scores`);
  expect(scores).toEqual([{ id: 'score', value: 1 }]);
});
