/** Tests browsers while a control plane of a release without browsers uses the same database. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld, openSession } from '#wire/public-api/operations.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { warmHost } from '../../support/control/host.ts';
import { warmBrowser } from '../../support/control/played-browser.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  const from = encodeTree(toTree(unlinkedWorld()));
  await control.send(createWorld, { body: { slug: 'board', from } });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

/** Inserts a host as a control plane without browsers does, and returns the kind that the database stores. */
const kindOf = async (id: string, size: string): Promise<string | undefined> => {
  await execute(
    database.url,
    `insert into hosts (id, installation, pool, runtime, tier, isolation, size, state)
     values ($1, 'there', 'any', 'process', null, 'process', $2, 'starting')`,
    [id, size],
  );
  const [row] = await execute<{ kind: string }>(
    database.url,
    `update hosts set state = 'gone' where id = $1 returning kind`,
    [id],
  );
  return row?.kind;
};

it('a host that an older control plane registers counts as a browser if it has the size of a browser', async () => {
  expect(await kindOf('hst-a', ':browser')).toBe('browser');
  expect(await kindOf('hst-b', 'standard')).toBe('world');
});

it('no session gets a browser until the older control plane has disconnected', async () => {
  const older = new pg.Client({
    connectionString: database.url,
    application_name: 'svc-control-listen',
  });
  await older.connect();
  const host = await warmHost(control);
  const browser = await warmBrowser(control);
  const body = { slug: 'board', surfaces: ['browser' as const] };
  const { id } = (await control.send(openSession, { body })).body;
  await host.poll();
  await host.ready();
  expect(await browser.poll(0)).toBeUndefined();
  await older.end();
  await expect.poll(() => browser.poll(0), { timeout: 10_000 }).toMatchObject({ sessionId: id });
});
