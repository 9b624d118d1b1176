/**
 * How pages of filtered lists are found: by an index of what is asked for, in the order of the page, whether many
 * match or few. Looked at in the plans that PostgreSQL makes, once, for whatever values come.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { type Database, openDatabase, type Statement } from '../../src/control/db/pool.ts';
import { ofWorld } from '../../src/control/db/requests.ts';
import { listSessionsBy } from '../../src/control/db/sessions.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { execute } from '../support/sql.ts';

const rows = 20_000;
/** One in so many is what the rare filters look for; they are the oldest. */
const rare = 5;

let database: TestDatabase;
let db: Database;

const seed = (): Promise<object[]> =>
  execute(
    database.url,
    `insert into organizations (id, slug, name) values ('org', 'org', 'org');
     insert into projects (id, organization_id, slug, name) values ('prj', 'org', 'prj', 'prj');
     begin;
     insert into worlds (id, project_id, slug, kind, name, head_version_id)
       select 'wld' || n, 'prj', 'world' || n, 'mock-tools', 'w', 'ver' || n from generate_series(1, 2) n;
     insert into versions (id, world_id, project_id, number, state, content_hash, contract, files,
         entity_counts, bundle, snapshot)
       select 'ver' || n, 'wld' || n, 'prj', 1, 'READY', 'h', '{}', '[]', '{}', 'b', 's'
         from generate_series(1, 2) n;
     commit;
     insert into sessions (id, project_id, world_id, version_id, state, surfaces, browser_tier,
         reuse_warm, created_at, closed_at, end_reason)
       select 'ses' || n, 'prj', 'wld' || case when n <= ${rare} then 2 else 1 end,
              'ver' || case when n <= ${rare} then 2 else 1 end,
              case when n <= ${rare} then 'FAILED' else 'CLOSED' end, '{}', 'standard', false,
              timestamptz '2026-01-01' + n * interval '1 second', now(), 'requested'
         from generate_series(1, ${rows}) n;
     alter table requests disable trigger user;
     insert into requests (session_id, id, world_id, at, via, operation, status, duration_ms, request,
         response, changes, rows, bytes)
       select 'ses' || (1 + n % 100), n, 'wld1', timestamptz '2026-01-01' + n * interval '1 second',
              case when n <= ${rare} then 'webhook' else 'api' end,
              case when n <= ${rare} then 'rare' else 'often' end,
              case when n <= ${rare} then 500 else 200 end, 1, 'null', 'null', '{}', '[]', 2
         from generate_series(1, ${rows}) n;
     analyze`,
  );

beforeAll(async () => {
  database = await testDatabase();
  await seed();
  db = openDatabase(new Secret(database.url), createLog('test', 'silent'));
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

type Plan = {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
};
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The plan for any values, run with these: its nodes that read the table. */
const explain = ({ text }: Statement, table: string, values: readonly (string | number | null)[]) =>
  db.transaction(async (tx) => {
    const run = <Row>(sql: string) => tx.query<Row>({ name: '', text: sql }, []);
    await run(`set local plan_cache_mode = force_generic_plan`);
    await run(`prepare looked_at as ${text}`);
    const given = values.map((value) =>
      typeof value === 'string' ? `'${value}'` : String(value ?? 'null'),
    );
    const [row] = await run<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, timing off, format json) execute looked_at (${given.join(', ')})`,
    );
    await run('deallocate looked_at');
    const nodes = row === undefined ? [] : nodesOf(row['QUERY PLAN'][0].Plan);
    return nodes.filter((node) => node['Relation Name'] === table);
  });

const page = 51;

describe('a page of sessions', () => {
  const cases: [string, { state?: string; world?: string }, string, number][] = [
    ['of any kind', {}, 'sessions_newest', page],
    ['of a state that many have', { state: 'CLOSED' }, 'sessions_by_state', page],
    ['of a state that few have', { state: 'FAILED' }, 'sessions_by_state', rare],
    ['of a world with many', { world: 'world1' }, 'sessions_by_world', page],
    ['of a world with few', { world: 'world2' }, 'sessions_by_world', rare],
    ['of both', { state: 'FAILED', world: 'world2' }, 'sessions_by_world_and_state', rare],
    [
      'of both, of which there are none',
      { state: 'FAILED', world: 'world1' },
      'sessions_by_world_and_state',
      0,
    ],
  ];

  it.each(cases)('%s is read from its index alone', async (_, filter, index, found) => {
    const values = ['prj', filter.state ?? null, filter.world ?? null];
    const statement = listSessionsBy(filter as Parameters<typeof listSessionsBy>[0]);
    for (const from of [null, Date.UTC(2026, 5) * 1_000]) {
      const reads = await explain(statement, 'sessions', [
        ...values,
        ...[page, 0, 'false', 4_000_000, from, ''],
      ]);
      expect(reads).toMatchObject([{ 'Index Name': index, 'Actual Rows': found }]);
      expect(reads[0]?.['Rows Removed by Filter'] ?? 0).toBe(0);
    }
  });
});

describe("a page of a world's requests", () => {
  const cases: [string, { via?: string; operation?: string; status?: number }, string, number][] = [
    ['of any kind', {}, 'requests_newest', page],
    ['of a way that many came', { via: 'api' }, 'requests_by_via', page],
    ['of a way that few came', { via: 'webhook' }, 'requests_by_via', rare],
    ['of an operation that many are', { operation: 'often' }, 'requests_by_operation', page],
    ['of an operation that few are', { operation: 'rare' }, 'requests_by_operation', rare],
    ['of a status that many have', { status: 200 }, 'requests_by_status', page],
    ['of a status that few have', { status: 500 }, 'requests_by_status', rare],
    ['of a status that none has', { status: 0 }, 'requests_by_status', 0],
  ];

  it.each(cases)('%s is read from its index alone', async (_, filter, index, found) => {
    const { via = null, operation = null, status = null } = filter;
    const reads = await explain(
      ofWorld.list(filter as Parameters<typeof ofWorld.list>[0]),
      'requests',
      ['wld1', via, operation, status, null, page, 0, 4_000_000, 'infinity', '', 0],
    );
    // The entries that the page shows are read by their key.
    const [first, ...others] = reads.filter((node) => node['Index Name'] !== 'requests_pkey');
    expect(others).toEqual([]);
    expect(first).toMatchObject({ 'Index Name': index, 'Actual Rows': found });
    expect(first?.['Rows Removed by Filter'] ?? 0).toBe(0);
  });

  it('of several filters is read from an index of one of them', async () => {
    const filter = { via: 'api', operation: 'often', status: 500 } as const;
    const reads = await explain(ofWorld.list(filter), 'requests', [
      ...['wld1', 'api', 'often', 500, null, page, 0, 4_000_000, 'infinity', '', 0],
    ]);
    expect(reads[0]?.['Index Name']).toMatch(/^requests_by_/);
  });
});
