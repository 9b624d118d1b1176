/**
 * Tests key pairs from configuration: those of deployments side by side, those replaced or revoked while replicas run,
 * and those used with replicas of the previous release.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { basicAuthorization } from '#wire/client.ts';
import { type Database, openDatabase } from '../../../src/control/db/core/database.ts';
import { ensureKeyPairs, findKeys, renewKeys } from '../../../src/control/db/projects/keys.ts';
import {
  createKeyRenewal,
  openConfiguredKeys,
} from '../../../src/control/platform/tokens/keys-in-use.ts';
import { hashSecretKey } from '../../../src/control/platform/tokens/tokens.ts';
import { startTestControl } from '../../support/control/control.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

// The exact statements that a control plane of the previous release runs at its start for its one key pair.
const ensureKeyBefore = `insert into keys (id, organization_id, project_id, public_key, secret_hash, configured)
   values ($1, $2, $3, $4, $5, true)
   on conflict (public_key) do update
      set secret_hash = excluded.secret_hash, revoked_at = null, configured = true`;
const revokeFormerBefore = `update keys set revoked_at = now()
    where configured and public_key <> $1 and revoked_at is null`;

describe('key pairs from configuration', () => {
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
  /** Returns the status that a request with this pair gets from a replica without cached keys. */
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
  /**
   * Simulates a control plane that runs for this many minutes and reports its pairs every 20 s. Returns the keys that
   * it revokes.
   */
  const runFor = async (minutes: number, ...publicKeys: string[]): Promise<string[]> => {
    let nowMs = 0;
    const name = createKeyRenewal(db, publicKeys, () => nowMs);
    const revoked: string[] = [];
    for (; nowMs <= minutes * 60_000; nowMs += 20_000) revoked.push(...(await name()));
    return revoked;
  };
  const silence = (publicKey: string, minutes: number) =>
    control.sql(
      `update keys set named_at = now() - $2 * interval '1 minute' where public_key = $1`,
      [publicKey, minutes],
    );

  /** Runs the start-up statements of a control plane of the previous release. */
  const startBeforeWith = async ([publicKey, secretKey]: [string, string]): Promise<void> => {
    const [place] = await control.sql<{ organization: string; project: string }>(
      `select organization_id as organization, id as project from projects where slug = 'default'`,
    );
    const { organization, project } = place ?? {};
    const made = [`key_${publicKey}`, organization, project, publicKey, hashSecretKey(secretKey)];
    await control.sql(ensureKeyBefore, made);
    await control.sql(revokeFormerBefore, [publicKey]);
  };
  /** Starts and stops the part of a control plane that registers its key pairs. */
  const openWith = async (...pairs: [publicKey: string, secretKey: string][]): Promise<void> => {
    const given = pairs.map(([publicKey, key]) => ({ publicKey, secretKey: new Secret(key) }));
    const loop = await openConfiguredKeys(db, given, createLog('test', 'silent'));
    await until(() => loop.status().ticks > 0, { timeoutMs: 10_000, what: 'the first naming' });
    await loop.stop();
  };
  const validOf = async (...publicKeys: string[]): Promise<string[]> =>
    (await findKeys(db, publicKeys)).map(({ publicKey }) => publicKey).sort();
  const keysCheckOf = async (replica: Awaited<ReturnType<typeof startWith>>) =>
    (await replica.admin(examine, {})).body.checks.find(({ name }) => name === 'keys');

  it('are valid side by side whichever starts last, and stay valid while a replica runs with them', async () => {
    const blue: [string, string] = ['pk-blue', 'sk-blue'];
    const green: [string, string] = ['pk-green', 'sk-green'];
    for (const pair of [blue, green, blue]) await (await startWith(pair)).stop();
    expect([await statusOf(blue), await statusOf(green)]).toEqual([200, 200]);
    expect(await runFor(30, 'pk-blue', control.publicKey)).toEqual([]);
    expect([await statusOf(blue), await statusOf(green)]).toEqual([200, 200]);
  });

  it('are revoked for good when no replica has used them for ten minutes while others ran', async () => {
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
    // An old replica returns. It serves, and the doctor reports that its pair was revoked.
    const late = await startWith(old);
    expect(await keysCheckOf(late)).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^pk-old was revoked at /),
    });
    await late.stop();
    expect([await statusOf(old), await statusOf(next)]).toEqual([401, 200]);
  });

  it('stay revoked after an operator revoked them', async () => {
    const pair: [string, string] = ['pk-hand', 'sk-hand'];
    await (await startWith(pair)).stop();
    await control.sql(`update keys set revoked_at = now() where public_key = 'pk-hand'`);
    await (await startWith(pair)).stop();
    expect(await statusOf(pair)).toBe(401);
  });

  it('are not revoked by a replica that was itself paused for that time', async () => {
    await (await startWith(['pk-quiet', 'sk-quiet'])).stop();
    await silence('pk-quiet', 60);
    let nowMs = 0;
    const name = createKeyRenewal(db, ['pk-hand'], () => nowMs);
    await name();
    nowMs += 20 * 60_000;
    expect(await name()).toEqual([]);
  });

  it('accept a new secret for their public key, and never an earlier one again', async () => {
    const first: [string, string] = ['pk-same', 'sk-first'];
    const second: [string, string] = ['pk-same', 'sk-second'];
    for (const pair of [first, second, first]) await (await startWith(pair)).stop();
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    const late = await startWith(first);
    expect(await keysCheckOf(late)).toMatchObject({
      status: 'failed',
      message: 'pk-same now has another secret key',
    });
    await late.stop();
  });

  it('may be several, and are written to the database only once', async () => {
    const pairs: [string, string][] = [
      ['pk-one', 'sk-one'],
      ['pk-two', 'sk-two'],
    ];
    const read = () =>
      control.sql(`select xmin::text from keys union all select xmin::text from projects`);
    await (await startWith(...pairs)).stop();
    expect(await Promise.all(pairs.map(statusOf))).toEqual([200, 200]);
    await (await startWith(...pairs)).stop();
    await renewKeys(db, ['pk-one']);
    const before = await read();
    await ensureKeyPairs(db, { organization: 'local', project: 'default' }, [
      { publicKey: 'pk-one', secretHash: hashSecretKey('sk-one') },
    ]);
    expect(await read()).toEqual(before);
  });

  it('stay valid when the previous release starts, and while it runs alone', async () => {
    const x: [string, string] = ['pk-x', 'sk-x'];
    const y: [string, string] = ['pk-y', 'sk-y'];
    await openWith(x, y);
    // The previous release takes several pairs for one.
    await startBeforeWith(['pk-x pk-y', 'sk-x sk-y']);
    await startBeforeWith(['pk-elsewhere', 'sk-elsewhere']);
    expect(await validOf('pk-x', 'pk-y')).toEqual(['pk-x', 'pk-y']);
    await startBeforeWith(x);
    await openWith(x, y);
    await startBeforeWith(['pk-elsewhere', 'sk-elsewhere']);
    expect(await validOf('pk-x', 'pk-y')).toEqual(['pk-x', 'pk-y']);
  });

  it('become valid again if the previous release revoked them when it started', async () => {
    const pair: [string, string] = ['pk-both', 'sk-both'];
    const revokeAsBefore = async () => {
      await startBeforeWith(pair);
      await startBeforeWith(['pk-elsewhere', 'sk-elsewhere']);
      expect(await validOf('pk-both')).toEqual([]);
    };
    await revokeAsBefore();
    await openWith(pair);
    expect(await validOf('pk-both')).toEqual(['pk-both']);
    await revokeAsBefore();
    await createKeyRenewal(db, ['pk-both'])();
    expect(await validOf('pk-both')).toEqual(['pk-both']);
  });

  it('stay valid while only the previous release has them, until an operator revokes them', async () => {
    const pair: [string, string] = ['pk-before', 'sk-before'];
    await startBeforeWith(pair);
    expect(await runFor(30, 'pk-new')).not.toContain('pk-before');
    expect(await validOf('pk-before')).toEqual(['pk-before']);
    const other = await startWith(['pk-other', 'sk-other']);
    expect(await keysCheckOf(other)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('pk-before'),
    });
    await control.sql(
      `update keys set revoked_at = now(), configured = null where public_key = 'pk-before'`,
    );
    expect((await keysCheckOf(other))?.message).not.toContain('pk-before');
    await other.stop();
    await openWith(pair);
    expect(await validOf('pk-before')).toEqual([]);
  });

  it('are also revoked by a control plane without key pairs', async () => {
    await openWith(['pk-gone', 'sk-gone']);
    await silence('pk-gone', 11);
    await openWith();
    expect(await runFor(10)).toContain('pk-gone');
  });
});
