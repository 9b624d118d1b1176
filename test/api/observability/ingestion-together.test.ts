/**
 * Tests concurrent ingestion requests of one project: they share transactions, and each has the result that it would
 * have alone.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readBatch } from '#observability/read-batch.ts';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { type Database, openDatabase, tracePool } from '../../../src/control/db/core/database.ts';
import { removeTraces } from '../../../src/control/observability/ingestion/delete.ts';
import { ingest } from '../../../src/control/observability/ingestion/ingest.ts';
import {
  openTraceStore,
  type TraceStore,
} from '../../../src/control/observability/ingestion/store.ts';
import { createPriceBook } from '../../../src/control/observability/models/price-book.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';

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
       select name, 'org', name, name from unnest(array['one', 'other', 'again', 'numbered', 'unnamed', 'held', 'large', 'gone']) as given(name)`,
  );
  db = openDatabase(new Secret(database.url), log, tracePool);
  const counting: Database = {
    ...db,
    transaction: (...given) => {
      transactions += 1;
      return db.transaction(...given);
    },
  };
  store = openTraceStore(
    counting,
    createPriceBook(async () => []),
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

const send = async (projectId: string, batch: readonly object[], by = store) => {
  const caller = { projectId, level: 'secret' } as const;
  return ingest(by, caller, readBatch(batch), log);
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

it('concurrent requests share transactions, and no event is lost or counted twice', async () => {
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

it('an event in several concurrent requests is stored once', async () => {
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

it('an event id that is reused for different traces is stored for each trace', async () => {
  const sent = senders.map((sender) => {
    const traceId = `numbered-${sender}`;
    return send('numbered', [
      eventOf('span-create', '0', { id: `${traceId}-a`, traceId }),
      eventOf('span-create', '1', { id: `${traceId}-b`, traceId }),
      eventOf('span-create', '1', { id: `${traceId}-c`, traceId }),
    ]);
  });
  await Promise.all(sent);
  expect(await countIn('numbered')).toEqual({ spans: 40, traces: 20, events: 40 });
});

it('an observation stays in one trace although some requests name no trace', async () => {
  // Stands for another control plane.
  const other = openTraceStore(
    db,
    createPriceBook(async () => []),
  );
  const ids = Array.from({ length: 200 }, (_, i) => `unnamed-${i}`);
  const tell = (sender: number, body: (id: string) => object) =>
    ids
      .filter((_, i) => i % 5 === sender % 5)
      .map((id) => eventOf('span-update', `${id}-${sender}`, { id, ...body(id) }));
  await Promise.all(
    senders.flatMap((sender) => [
      send(
        'unnamed',
        tell(sender, () => ({ level: 'WARNING' })),
      ),
      send(
        'unnamed',
        tell(sender, () => ({ traceId: `named-${sender % 5}`, name: 'n' })),
        other,
      ),
    ]),
  );
  const rows = await execute(
    database.url,
    `select distinct name, level, left(trace_id, 6) as trace, count(*) over ()::int as count
       from observations where project_id = 'unnamed'`,
  );
  expect(rows).toEqual([{ name: 'n', level: 'WARNING', trace: 'named-', count: 200 }]);
});

const spanIn = (traceId: string, sender: number) => [
  eventOf('span-create', `${traceId}-${sender}`, { id: `${traceId}-${sender}`, traceId }),
];

/** Runs the work while another connection holds a lock on the row of the trace. */
const whileHeld = async (traceId: string, work: () => Promise<unknown>): Promise<void> => {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    await client.query(`begin; select from traces where id = '${traceId}' for update`);
    await work();
  } finally {
    await client.end();
  }
};

it('concurrent requests are written, except those whose trace stays locked', async () => {
  await send('held', spanIn('held-one', 0));
  await whileHeld('held-one', async () => {
    const sent = await Promise.allSettled(
      senders.flatMap((sender) => [
        ...(sender === 7 ? [send('held', spanIn('held-one', 7))] : []),
        send('held', spanIn(`free-${sender}`, sender)),
      ]),
    );
    const refused = sent.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toEqual([expect.objectContaining({ code: 'unavailable' })]);
    expect(refused[0]).toMatchObject({
      message: 'another request is writing the same data; try again in a moment',
      detail: { retryAfterMs: 1_000 },
    });
  });
  await send('held', spanIn('held-one', 7));
  expect(await countIn('held')).toEqual({ spans: 22, traces: 21, events: 22 });
});

it('concurrent requests are written although one of them, which names no trace, waits for a lock', async () => {
  await send('held', spanIn('held-two', 0));
  await whileHeld('held-two', async () => {
    const unnamed = [
      ...spanIn('held-two', 1),
      eventOf('span-update', 'unnamed', { id: 'held-unnamed', name: 'n' }),
    ];
    const [refused, ...others] = await Promise.allSettled([
      send('held', unnamed),
      ...senders.map((sender) => send('held', spanIn(`two-${sender}`, sender))),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    expect(others.filter(({ status }) => status === 'rejected')).toEqual([]);
  });
});

it('concurrent requests do not restore a trace that is being deleted', async () => {
  await send('gone', spanIn('gone', 0));
  let removing: Promise<number> | undefined;
  await whileHeld('gone', async () => {
    removing = removeTraces(store, 'gone', ['gone', 'not there']);
    await vi.waitFor(async () => {
      const noted = await execute(database.url, 'select from deleted_traces');
      expect(noted).toHaveLength(1);
    });
    await Promise.all(senders.map((sender) => send('gone', spanIn('gone', sender + 1))));
  });
  expect(await removing).toBe(1);
  expect(await countIn('gone')).toMatchObject({ spans: 0, traces: 0 });
});

it('large requests are each written in a transaction of their own', async () => {
  await store.weeks.current();
  transactions = 0;
  const input = 'x'.repeat(5_000_000);
  await Promise.all(
    Array.from({ length: 8 }, (_, sender) =>
      send('large', [
        eventOf('span-create', `large-${sender}`, { id: `large-${sender}`, traceId: 'l', input }),
      ]),
    ),
  );
  expect(transactions).toBe(8);
});
