/** Tests quotas of a project when opens overlap in the database. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import { createWorld, openSession } from '#wire/public-api/operations.ts';
import { type Database, openDatabase } from '../../../src/control/db/core/database.ts';
import {
  type NewSession,
  openSession as writeSession,
} from '../../../src/control/db/sessions/assignment.ts';
import { readClientColumns } from '../../../src/control/db/sessions/session-row.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { clearPool } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

const quotas = { sessions: 3, opensPerMinute: 6 };

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url, quotas });
  await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const setQuotas = (sessions: number | null, opensPerMinute: number | null) =>
  control.sql(
    `update projects set quota_sessions = $1, quota_opens_per_minute = $2 where slug = 'default'`,
    [sessions, opensPerMinute],
  );

/** Shifts the times of all opens into the past by a number of seconds. */
const passTime = (seconds: number) =>
  control.sql(`update sessions set created_at = created_at - $1 * interval '1 second'`, [seconds]);

beforeEach(async () => {
  await clearPool(control);
  await passTime(3_600);
  await setQuotas(null, null);
});

const open = async () => (await control.send(openSession, { body: { slug: 'notes' } })).body;

const openMany = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await open()).id);
  return ids;
};

const countSessions = async (where = 'true'): Promise<number> => {
  const rows = await control.sql<{ count: number }>(
    `select count(*)::int as count from sessions where ${where}`,
  );
  return rows[0]?.count ?? 0;
};

describe('opens that overlap in the database', () => {
  const databases: Database[] = [];

  beforeAll(() => {
    const log = createLog('test', 'silent');
    for (let index = 0; index < 2; index += 1) {
      databases.push(openDatabase(new Secret(database.url), log));
    }
  });

  const commits: (() => Promise<void> | undefined)[] = [];

  afterEach(() => Promise.all(commits.splice(0).map((commit) => commit())));

  afterAll(() => Promise.all(databases.map((db) => db.close())));

  const newSession = async (): Promise<NewSession> => {
    const [version] = await control.sql<
      Pick<NewSession, 'projectId' | 'worldId' | 'versionId'>
    >(`select v.project_id as "projectId", v.world_id as "worldId", v.id as "versionId"
         from versions v join projects p on p.id = v.project_id where p.slug = 'default'`);
    if (version === undefined) throw new Error('there is no version');
    return {
      ...version,
      id: `ses-${randomUUID()}`,
      headOf: null,
      taskJson: null,
      taskForm: null,
      taskName: null,
      taskHash: null,
      taskId: null,
      taskVersion: null,
      instruction: null,
      taskTools: null,
      surfaces: [],
      isRecorded: false,
      tier: 'standard',
      ...readClientColumns({}),
      clock: '{"at": null, "mode": "real", "rate": 1}',
      idempotencyKey: null,
      requestHash: '',
      runId: null,
      datasetRunId: null,
      agentRunId: null,
      buildId: null,
      ...{ traceId: null, traceParentId: null, traceSessionId: null },
      secretMark: '',
    };
  };

  /** Begins an open: `decided` resolves when the database has answered, and `commit` commits it. */
  const begin = async (db: Database | undefined = databases[0]) => {
    const wanted = await newSession();
    const decided = Promise.withResolvers<boolean>();
    const mayCommit = Promise.withResolvers<void>();
    const done = db?.transaction(async (tx) => {
      const usual = control.config.quotas;
      decided.resolve((await writeSession(tx, wanted, usual)).session !== undefined);
      await mayCommit.promise;
    });
    const commit = () => {
      mayCommit.resolve();
      return done;
    };
    commits.push(commit);
    return { decided: decided.promise, commit };
  };

  const someoneWaits = () =>
    until(
      async () =>
        (
          await control.sql(
            `select from pg_locks where locktype = 'advisory' and not granted
                and database = (select oid from pg_database where datname = current_database())`,
          )
        ).length > 0,
      { timeoutMs: 10_000, what: 'an open that waits for another' },
    );

  it('do not wait for each other while the quota is far from used up', async () => {
    await setQuotas(16, 16);
    const first = await begin();
    expect(await first.decided).toBe(true);
    // The first session is not committed, so other transactions do not see it.
    await open();
    await first.commit();
  });

  it.each([
    [16, 1_000],
    [1_000, 16],
  ])('wait for each other near the quotas %i and %i', async (sessions, opens) => {
    await setQuotas(sessions, opens);
    const first = await begin();
    expect(await first.decided).toBe(true);
    await open();
    const later = open();
    await someoneWaits();
    await first.commit();
    await later;
    await openMany(13);
    await expect(open()).rejects.toMatchObject({ detail: { limit: 16 } });
    expect(await countSessions('closed_at is null')).toBe(16);
  });

  it('all succeed when the quota has capacity for them', async () => {
    await setQuotas(1_000, 1_000);
    const many = await Promise.all(
      Array.from({ length: 17 }, (_, index) => begin(databases[index % 2])),
    );
    await someoneWaits();
    await Promise.all(many.map(({ commit }) => commit()));
    expect(await Promise.all(many.map(({ decided }) => decided))).not.toContain(false);
  });
});
