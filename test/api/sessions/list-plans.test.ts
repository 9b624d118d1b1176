/**
 * Tests that pages of filtered lists are read from an index that fits the filter, in the order of the page, for common
 * and for rare values. The tests read the plans that PostgreSQL makes for the given values. The statistics do not
 * contain the rare values, as is usual for a long table.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import {
  type Database,
  openDatabase,
  type Statement,
} from '../../../src/control/db/core/database.ts';
import type { NamedValues } from '../../../src/control/db/core/parameters.ts';
import { ofWorld } from '../../../src/control/db/sessions/requests.ts';
import { listSessionsStatements } from '../../../src/control/db/sessions/sessions.ts';
import { explainReads } from '../../support/database/plans.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';

const rows = 20_000;
/** Number of rows that match the rare filters; they are the oldest ones. */
const rare = 5;

let database: TestDatabase;
let db: Database;

/** Inserts sessions and requests with these numbers; newer ones have greater numbers. */
const insert = (from: number, to: number): string =>
  `insert into sessions (id, project_id, world_id, version_id, state, surfaces, browser_tier,
       reuse_warm, created_at, closed_at, end_reason, verdict, task_name, task_id, build_id, agent_run_id)
     select 'ses' || n, 'prj', 'wld' || case when n <= ${rare} then 2 else 1 end,
            'ver' || case when n <= ${rare} then 2 else 1 end,
            case when n <= ${rare} then 'FAILED' else 'CLOSED' end, '{}', 'standard', false,
            timestamptz '2026-01-01' + n * interval '1 second', now(), 'requested',
            case when n <= ${rare} then 'fail' else 'pass' end,
            case when n <= ${rare} then 'rare' else 'often' end,
            case when n <= ${rare} then 'tsk2' else 'tsk1' end,
            case when n <= ${rare} then 'bld2' else 'bld1' end,
            case when n <= ${rare} then 'run2' else 'run1' end
       from generate_series(${from}, ${to}) n;
   insert into requests (session_id, id, world_id, at, via, operation, status, duration_ms, request,
       response, changes, rows, bytes)
     select 'ses' || n, n, 'wld1', timestamptz '2026-01-01' + n * interval '1 second',
            case when n <= ${rare} then 'webhook' else 'api' end,
            case when n <= ${rare} then 'rare' else 'often' end,
            case when n <= ${rare} then 500 else 200 end, 1, 'null', 'null', '{}', '[]', 2
       from generate_series(${from}, ${to}) n;`;

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
     alter table requests disable trigger user;
     alter table sessions set (autovacuum_enabled = false);
     alter table requests set (autovacuum_enabled = false);
     ${insert(rare + 1, rows)}
     analyze;
     ${insert(1, rare)}`,
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

/** Plans the statement for these values, and returns those nodes of the plan that read the table. */
const explain = (given: Statement, table: string, values: NamedValues) => {
  expect(given.isPlannedAnew).toBe(true);
  return explainReads(db, given, { table, values });
};

/** Expected node of a plan: it reads this many rows from one of these indexes. */
const read = (indexes: RegExp, found: number) => ({
  'Index Name': expect.stringMatching(indexes),
  'Actual Rows': found,
});

const page = 51;

type Text = string | null;
const unfiltered = {
  ...{ verdict: null as Text, taskName: null as Text, taskId: null as Text, buildId: null as Text },
};

describe('a page of the session list', () => {
  // If every session matches the filter, the index of all sessions fits as well.
  type Asked = { state?: string; world?: string } & Partial<typeof unfiltered>;
  const cases: [string, Asked, RegExp, number][] = [
    ['of any kind', {}, /^sessions_newest$/, page],
    ['of a state that many have', { state: 'CLOSED' }, /^sessions_(newest|by_end)$/, page],
    ['of a state that few have', { state: 'FAILED' }, /^sessions_by_end$/, rare],
    ['of a state that none has', { state: 'READY' }, /^sessions_open$/, 0],
    ['of a world with many', { world: 'wld1' }, /^sessions_(newest|by_world)$/, page],
    ['of a world with few', { world: 'wld2' }, /^sessions_by_world$/, rare],
    ['of a verdict that many have', { verdict: 'pass' }, /^sessions_(newest|by_verdict)$/, page],
    ['of a verdict that few have', { verdict: 'fail' }, /^sessions_by_verdict$/, rare],
    ['of a task that few are on', { taskName: 'rare' }, /^sessions_by_task$/, rare],
    ['of a stored task with few', { taskId: 'tsk2' }, /^sessions_of_task$/, rare],
    ['of a build with few', { buildId: 'bld2' }, /^sessions_of_build$/, rare],
    ['of both', { state: 'FAILED', world: 'wld1' }, /^sessions_by_(world_and_)?end$/, 0],
  ];

  it.each(cases)(
    '%s is read from an index that fits its filter',
    async (_, filter, indexes, found) => {
      for (const from of [null, Date.UTC(2026, 5) * 1_000]) {
        const { state = null, world: worldId = null, ...others } = filter;
        const given = {
          ...{ ...unfiltered, ...others },
          ...{ projectId: 'prj', state, worldId, limit: page, offset: 0, withInstruction: false },
          ...{ mostBytes: 4_000_000, fromUs: from, fromId: '' },
        };
        const [first] = await explain(listSessionsStatements.exclude, 'sessions', given);
        expect(first).toMatchObject(read(indexes, found));
        expect(first?.['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(rare);
      }
    },
  );
});

describe('a page of sessions of experiment runs', () => {
  it('is read from an index of sessions of runs, if the query names the run', async () => {
    const given = {
      ...{ ...unfiltered, projectId: 'prj', state: null, worldId: null, limit: page, offset: 0 },
      ...{ withInstruction: false, mostBytes: 4_000_000, fromUs: null, fromId: '', run: 'run2' },
    };
    const [first] = await explain(listSessionsStatements.named, 'sessions', given);
    expect(first).toMatchObject(read(/^sessions_of_any_run$/, rare));
  });
});

describe("a page of a world's requests", () => {
  const cases: [string, { via?: string; operation?: string; status?: number }, RegExp, number][] = [
    ['of any kind', {}, /^requests_newest$/, page],
    ['of a way that many came', { via: 'api' }, /^requests_(newest|by_via)$/, page],
    ['of a way that few came', { via: 'webhook' }, /^requests_by_via$/, rare],
    ['of an operation that many are', { operation: 'often' }, /^requests_(newest|by_op)/, page],
    ['of an operation that few are', { operation: 'rare' }, /^requests_by_operation$/, rare],
    ['of a status that many have', { status: 200 }, /^requests_(newest|by_status)$/, page],
    ['of a status that few have', { status: 500 }, /^requests_by_status$/, rare],
    ['of a status that none has', { status: 0 }, /^requests_by_status$/, 0],
    ['of several filters', { via: 'api', operation: 'often', status: 500 }, /^requests_by_st/, 0],
  ];

  it.each(cases)(
    '%s is read from an index that fits its filter',
    async (_, filter, indexes, found) => {
      const { via = null, operation = null, status = null } = filter;
      const given = {
        ...{ owner: 'wld1', via, operation, status, after: null, limit: page, offset: 0 },
        ...{ mostBytes: 4_000_000, fromAt: 'infinity', fromSession: '', fromId: 0 },
      };
      const reads = await explain(ofWorld.list, 'requests', given);
      // The plan reads the rows of the page by their primary key.
      const [first, ...others] = reads.filter((node) => node['Index Name'] !== 'requests_pkey');
      expect(others).toEqual([]);
      expect(first).toMatchObject(read(indexes, found));
      expect(first?.['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(rare);
    },
  );
});
