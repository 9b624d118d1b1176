/** Key pairs of configurations: of deployments side by side, replaced while replicas run, and revoked. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { basicAuthorization } from '#wire/client.ts';
import { type Database, openDatabase } from '../../src/control/db/database.ts';
import { ensureKeyPairs, nameKeys } from '../../src/control/db/keys.ts';
import { createNaming } from '../../src/control/tokens/keys-in-use.ts';
import { hashSecretKey } from '../../src/control/tokens/tokens.ts';
import { startTestControl } from '../support/control.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';

describe('key pairs of configurations', () => {
  let control: OwnControl;
  let db: Database;

  beforeAll(async () => {
    control = await startNotesControl();
    db = openDatabase(control.config.databaseUrl, createLog('test', 'silent'));
  });
  afterAll(async () => {
    await db.close();
    await control.stop();
  });

  const startWith = (...pairs: [publicKey: string, secretKey: string][]) =>
    startTestControl({
      databaseUrl: control.config.databaseUrl.reveal(),
      replicaOf: {
        config: {
          ...control.config,
          bootstrap: pairs.map(([publicKey, secret]) => ({
            publicKey,
            secretKey: new Secret(secret),
          })),
        },
      },
    });
  /** What a pair is answered by a replica that remembers no key. */
  const statusOf = async ([publicKey, secretKey]: [string, string]): Promise<number> => {
    const asked = await startWith();
    const headers = { authorization: basicAuthorization(publicKey, secretKey) };
    const { status } = await asked.raw({
      method: 'GET',
      path: '/api/public/environments',
      headers,
    });
    await asked.stop();
    return status;
  };
  /** A control plane that has run for so many minutes, and names its pairs every 20 s. */
  const runFor = async (minutes: number, ...publicKeys: string[]): Promise<string[]> => {
    let nowMs = 0;
    const name = createNaming(db, publicKeys, () => nowMs);
    const revoked: string[] = [];
    for (; nowMs <= minutes * 60_000; nowMs += 20_000) revoked.push(...(await name()));
    return revoked;
  };
  const silence = (publicKey: string, minutes: number) =>
    control.sql(
      `update keys set named_at = now() - $2 * interval '1 minute' where public_key = $1`,
      [publicKey, minutes],
    );

  it('are valid side by side, whoever starts last, and none is revoked that is named', async () => {
    const blue: [string, string] = ['pk-blue', 'sk-blue'];
    const green: [string, string] = ['pk-green', 'sk-green'];
    for (const pair of [blue, green, blue]) await (await startWith(pair)).stop();
    expect([await statusOf(blue), await statusOf(green)]).toEqual([200, 200]);
    expect(await runFor(30, 'pk-blue', control.publicKey)).toEqual([]);
    expect([await statusOf(blue), await statusOf(green)]).toEqual([200, 200]);
  });

  it('are revoked when none has named them for ten minutes in which another ran, for good', async () => {
    const old: [string, string] = ['pk-old', 'sk-old'];
    const next: [string, string] = ['pk-new', 'sk-new'];
    await (await startWith(old)).stop();
    await (await startWith(next)).stop();
    await silence('pk-old', 11);
    await control.sql('update keys set named_at = now() where public_key <> $1', ['pk-old']);
    expect(await runFor(9, 'pk-new')).toEqual([]);
    expect(await statusOf(old)).toBe(200);
    expect(await runFor(10, 'pk-new')).toEqual(['pk-old']);
    expect([await statusOf(old), await statusOf(next)]).toEqual([401, 200]);
    // A replica of before comes back: it serves, and says what its pair is.
    const late = await startWith(old);
    const { body } = await late.admin(examine, {});
    expect(body.checks.find(({ name }) => name === 'keys')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^pk-old was revoked at /),
    });
    await late.stop();
    expect([await statusOf(old), await statusOf(next)]).toEqual([401, 200]);
  });

  it('are revoked by hand for good', async () => {
    const pair: [string, string] = ['pk-hand', 'sk-hand'];
    await (await startWith(pair)).stop();
    await control.sql(`update keys set revoked_at = now() where public_key = 'pk-hand'`);
    await (await startWith(pair)).stop();
    expect(await statusOf(pair)).toBe(401);
  });

  it('are not revoked by one that was not heard meanwhile', async () => {
    await (await startWith(['pk-quiet', 'sk-quiet'])).stop();
    await silence('pk-quiet', 60);
    let nowMs = 0;
    const name = createNaming(db, ['pk-hand'], () => nowMs);
    await name();
    nowMs += 20 * 60_000;
    expect(await name()).toEqual([]);
  });

  it('take another secret under their public key, and never an earlier one again', async () => {
    const first: [string, string] = ['pk-same', 'sk-first'];
    const second: [string, string] = ['pk-same', 'sk-second'];
    for (const pair of [first, second, first]) await (await startWith(pair)).stop();
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    const late = await startWith(first);
    const { body } = await late.admin(examine, {});
    expect(body.checks.find(({ name }) => name === 'keys')).toMatchObject({
      status: 'failed',
      message: 'pk-same has another secret key since',
    });
    await late.stop();
  });

  it('may be several at once, and are written down once', async () => {
    const pairs: [string, string][] = [
      ['pk-one', 'sk-one'],
      ['pk-two', 'sk-two'],
    ];
    const read = () =>
      control.sql(`select xmin::text from keys union all select xmin::text from projects`);
    await (await startWith(...pairs)).stop();
    expect(await Promise.all(pairs.map(statusOf))).toEqual([200, 200]);
    await (await startWith(...pairs)).stop();
    await nameKeys(db, ['pk-one']);
    const before = await read();
    await ensureKeyPairs(db, { organization: 'local', project: 'default' }, [
      { publicKey: 'pk-one', secretHash: hashSecretKey('sk-one') },
    ]);
    expect(await read()).toEqual(before);
  });
});
