/** Tests secrets that are rotated while replicas run: in any order, rolled back and retried. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { createWorld, getSession, openSession } from '#wire/public-api/operations.ts';
import type { ControlConfig } from '../../../src/control/config.ts';
import { type Database, openDatabase } from '../../../src/control/db/core/database.ts';
import {
  openSecretsInUse,
  type SecretsInUse,
} from '../../../src/control/platform/tokens/secrets-in-use.ts';
import { sessionToken } from '../../../src/control/platform/tokens/tokens.ts';
import {
  type StartedControl,
  startTestControl,
  type TestControl,
} from '../../support/control/control.ts';
import { atReplica, installation, warmHost } from '../../support/control/host.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';

const log = createLog('test', 'silent');
const secretOf = (values: string): Secret => {
  const [present = '', ...earlier] = values.split(' ');
  return new Secret(present, earlier);
};

describe('values of a secret', () => {
  let database: TestDatabase;
  let db: Database;

  beforeAll(async () => {
    database = await testDatabase();
    db = openDatabase(new Secret(database.url), log);
  });
  beforeEach(() => execute(database.url, 'delete from secret_marks'));
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  /** Reports these values as a replica does when it starts and then every few seconds; returns the secrets in use. */
  const tell = async (values: string): Promise<SecretsInUse> => {
    const { secrets, loop } = await openSecretsInUse(db, secretOf(values), log);
    await loop.stop();
    return secrets;
  };
  const used = async (values: string): Promise<string> =>
    (await tell(values)).now().secret.reveal();
  const pass = (minutes: number) =>
    execute(database.url, `update secret_marks set since = since - interval '${minutes} minutes'`);

  /**
   * Sequences of steps, each a path through the table of `secret-marks.ts`. A step is the values that a replica
   * reports, with the value that it then uses; or it is a number of minutes that pass.
   */
  const ways: [string, ...(readonly [values: string, uses: string] | number)[]][] = [
    ['one value is used at once', ['a', 'a']],
    ['a new one ten minutes later', ['a', 'a'], ['b a', 'a'], 9, ['b a', 'a'], 2, ['b a', 'b']],
    ['so also when the first start has two', ['b a', 'a'], 11, ['b a', 'b']],
    [
      'replicas that start again change nothing',
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['b a', 'b'],
      ['b a', 'b'],
    ],
    [
      'a replica that starts with the old one delays the new one',
      ['a', 'a'],
      ['b a', 'a'],
      9,
      ['a', 'a'],
      ['b a', 'a'],
      9,
      ['b a', 'a'],
      2,
      ['b a', 'b'],
    ],
    [
      'a replica that runs on with the old one delays the new one',
      ['b a', 'a'],
      11,
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['b a', 'b'],
    ],
    [
      'one taken back and tried again counts as new',
      ['a', 'a'],
      ['b a', 'a'],
      2,
      ['a', 'a'],
      60,
      ['b a', 'a'],
      11,
      ['b a', 'b'],
    ],
    [
      'one that was in use and is taken back counts as new, too',
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['b a', 'b'],
      ['a', 'a'],
      60,
      ['b a', 'a'],
      11,
      ['b a', 'b'],
    ],
    [
      'taken back with both before it was used',
      ['a', 'a'],
      ['b a', 'a'],
      2,
      ['a b', 'a'],
      60,
      ['a b', 'a'],
      ['b a', 'a'],
      11,
      ['b a', 'b'],
    ],
    [
      'back to the earlier one ten minutes later',
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['b a', 'b'],
      ['a b', 'b'],
      9,
      ['a b', 'b'],
      2,
      ['a b', 'a'],
    ],
    [
      'back and forth before ten minutes are over keeps the one in use',
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['a b', 'b'],
      5,
      ['b a', 'b'],
      ['a b', 'b'],
      9,
      ['a b', 'b'],
      2,
      ['a b', 'a'],
    ],
    [
      'the old one taken away changes nothing',
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['b', 'b'],
      ['b a', 'b'],
      ['b', 'b'],
    ],
    [
      'one taken away counts as new when it returns',
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['b', 'b'],
      60,
      ['a b', 'b'],
      11,
      ['a b', 'a'],
    ],
    [
      'a third follows a second that waits',
      ['a', 'a'],
      ['b a', 'a'],
      5,
      ['c b a', 'a'],
      ['b a', 'a'],
      9,
      ['c b a', 'a'],
      11,
      ['c b a', 'c'],
    ],
    [
      'a third follows a second',
      ['a', 'a'],
      ['b a', 'a'],
      11,
      ['c b a', 'b'],
      ['b a', 'b'],
      ['c b a', 'b'],
      11,
      ['c b a', 'c'],
    ],
    [
      'one replaced without keeping the old is used at once',
      ['a', 'a'],
      ['b', 'b'],
      ['b', 'b'],
      ['a', 'a'],
    ],
  ];

  it.each(ways)('are used in this order: %s', async (_, ...steps) => {
    for (const [at, step] of steps.entries()) {
      if (typeof step === 'number') await pass(step);
      else expect([at, await used(step[0])]).toEqual([at, step[1]]);
    }
  });

  it('continue to be used for sessions opened with them, and a missing value is detected', async () => {
    const { mark } = (await tell('a')).now();
    const createdAt = new Date();
    const opened = { secretMark: mark, createdAt };
    for (const values of ['b a', 'a b', 'c b a', 'a']) {
      expect((await tell(values)).of(opened)?.reveal()).toBe('a');
      await pass(11);
      expect((await tell(values)).of(opened)?.reveal()).toBe('a');
    }
    expect((await tell('b')).of(opened)).toBeUndefined();
  });

  it('are chosen by the opening time of a session if an earlier release did not record which secret it used', async () => {
    await tell('a');
    await tell('b a');
    await pass(20);
    const minutesAgo = (minutes: number) => ({
      secretMark: null,
      createdAt: new Date(Date.now() - minutes * 60_000),
    });
    const secrets = await tell('b a');
    expect(secrets.of(minutesAgo(11))?.reveal()).toBe('a');
    expect(secrets.of(minutesAgo(9))?.reveal()).toBe('b');
  });

  it('are recorded once: a replica that starts later writes nothing', async () => {
    await tell('b a');
    const read = () => execute(database.url, 'select xmin::text, mark from secret_marks');
    const before = await read();
    await Promise.all([tell('b a'), tell('b a')]);
    expect(await read()).toEqual(before);
  });
});

describe('secrets that are rotated replica by replica', () => {
  let database: TestDatabase;
  let control: StartedControl;

  beforeEach(async () => {
    database = await testDatabase();
    control = await startTestControl({ databaseUrl: database.url });
    await control.send(createWorld, { body: { slug: 'hosting', from: 'code-hosting' } });
  });
  afterEach(async () => {
    await control.stop();
    await database.drop();
  });

  const rotated = (): ControlConfig => {
    const { config } = control;
    const replace = (secret: Secret) => new Secret(`new-${secret.reveal()}`, [secret.reveal()]);
    const bootstrap = [{ publicKey: 'pk-of-next', secretKey: new Secret('sk-of-next') }];
    const { secret, poolToken } = config;
    return { ...config, secret: replace(secret), poolToken: replace(poolToken), bootstrap };
  };
  const startNext = (config: ControlConfig) =>
    startTestControl({ databaseUrl: database.url, replicaOf: { config } });
  const tokenOf = async (at: TestControl, sessionId: string) =>
    (await at.send(getSession, { params: { sessionId } })).body.surfaces.api?.token;

  it('keep the tokens of hosts, sessions and programs valid', async () => {
    const host = await warmHost(control);
    const { id } = (await control.send(openSession, { body: { slug: 'hosting' } })).body;
    const given = (await host.poll())?.sessionToken;
    await host.ready();
    expect(await tokenOf(control, id)).toBe(given);

    const config = rotated();
    const next = await startNext(config);
    expect(await tokenOf(next, id)).toBe(given);
    expect(await atReplica(host, next).beat()).toMatchObject({ drain: false });
    for (const token of [config.poolToken.reveal(), control.config.poolToken.reveal()]) {
      const path = `/api/pool/view?installation=${installation}`;
      const headers = { authorization: `Bearer ${token}` };
      expect(await next.raw({ method: 'GET', path, headers })).toMatchObject({ status: 200 });
    }
    await next.stop();
  });

  it('sign tokens of new sessions once all replicas have the new secrets, and a replica without them reports that', async () => {
    const config = rotated();
    const first = await startNext(config);
    await first.stop();
    await control.sql(
      `update secret_marks set since = now() - interval '1 second' where since > '-infinity'`,
    );
    const next = await startNext(config);
    // Its own token is signed with the old value, which every replica has.
    const host = await warmHost(control);
    const { id } = (await next.send(openSession, { body: { slug: 'hosting' } })).body;
    const without = await startNext({ ...control.config, bootstrap: config.bootstrap });
    await expect(atReplica(host, without).poll()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('add that value to SVC_SECRET after the current value'),
    });
    const there = atReplica(host, next);
    const given = (await there.poll())?.sessionToken;
    await there.ready();
    expect(await tokenOf(next, id)).toBe(given);
    const [present] = config.secret.each();
    expect(given).toBe(sessionToken(present, id));
    // The replica shows no token, since one of its own would be refused by the host.
    expect(await tokenOf(without, id)).toBe(undefined);
    await without.stop();
    await next.stop();
  });
});
