/** Tests the limit on requests per minute with one key, counted over two replicas. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { setSettings } from '../../support/control/settings.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';

const limit = 40;
let database: TestDatabase;
let control: StartedControl;
let replica: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url, rateLimit: limit });
  replica = await startTestControl({ databaseUrl: database.url, replicaOf: control });
});
afterAll(async () => {
  await replica.stop();
  await control.stop();
  await database.drop();
});

/** Waits until at least half of the current minute of the database's clock is left. */
const waitForRoom = async (): Promise<void> => {
  for (;;) {
    const [row] = await control.sql<{ second: number }>(
      'select extract(second from clock_timestamp())::float8 as second',
    );
    if ((row?.second ?? 60) < 35) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
};

const askMany = (count: number, project: Neighbour) =>
  Promise.all(
    Array.from({ length: count }, (_, nth) =>
      project.ask('GET', '/environments', undefined, nth % 2 === 0 ? control : replica),
    ),
  );

describe('the rate limit', () => {
  it('applies to the requests of a key per minute over all replicas together, and is reported in headers', async () => {
    await waitForRoom();
    const [busy, other] = [await addNeighbour(control), await addNeighbour(control)];
    const answers = await askMany(limit + 20, busy);
    const done = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect(done.length + refused.length).toBe(answers.length);
    // A replica may hold a twentieth of the limit that it did not spend.
    expect(done.length).toBeGreaterThanOrEqual(limit - limit / 20);
    expect(done.length).toBeLessThanOrEqual(limit);
    for (const { headers, body } of refused) {
      expect(body).toMatchObject({ error: 'exhausted', rateLimit: limit });
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(Number(headers['x-ratelimit-remaining'])).toBe(0);
    }
    const remaining = done.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    expect(Math.max(...remaining)).toBeLessThan(limit);
    expect(Number(done[0]?.headers['x-ratelimit-limit'])).toBe(limit);
    const reset = Number(done[0]?.headers['x-ratelimit-reset']);
    expect(Math.abs(reset - Date.now() / 1_000)).toBeLessThan(62);
    expect((await other.ask('GET', '/environments')).status).toBe(200);
  }, 90_000);

  it('can be set by a project, and is not reported to a client without a valid key', async () => {
    const settings = await setSettings(control, { rateLimit: 20 });
    expect(settings).toMatchObject({ rateLimit: 20, set: ['rateLimit'] });
    await expect(setSettings(control, { rateLimit: limit + 1 })).rejects.toMatchObject({
      fields: [{ path: ['rateLimit'] }],
    });
    const ask = (authorization: string) =>
      replica.raw({ method: 'GET', path: '/api/public/environments', headers: { authorization } });
    const own = await ask(basicAuthorization(control.publicKey, control.secretKey));
    expect(Number(own.headers['x-ratelimit-limit'])).toBe(20);
    const wrong = await ask(basicAuthorization(control.publicKey, 'sk-wrong'));
    expect(wrong.headers['x-ratelimit-limit']).toBeUndefined();
  });

  it("is counted on each replica while the database's disk is full, and reads are answered", async () => {
    const project = await addNeighbour(control);
    await control.sql(
      'alter function take_requests(text, integer) rename to take_requests_with_room',
    );
    await control.sql(
      `create function take_requests(
         credential text, most integer, out granted integer, out untaken integer, out left_ms integer
       ) language plpgsql as $$ begin raise disk_full; end $$`,
    );
    try {
      const statuses = async (count: number) =>
        (
          await Promise.all(
            Array.from({ length: count }, () => project.ask('GET', '/environments')),
          )
        ).map(({ status }) => status);
      expect(new Set(await statuses(limit))).toEqual(new Set([200]));
      expect(await statuses(2 * limit + 1)).toContain(429);
    } finally {
      await control.sql('drop function take_requests(text, integer)');
      await control.sql(
        'alter function take_requests_with_room(text, integer) rename to take_requests',
      );
    }
  });
});
