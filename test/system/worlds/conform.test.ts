/**
 * Tests conformance of a mirrored world with its vendor, by the commands that users run. A captured and pushed world
 * conforms; a version that its author changed does not.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import type { ConformReport } from '#mirror/conform/conform.ts';
import { until } from '#runtime/pause.ts';
import { listSessions } from '#wire/public-api/operations.ts';
import { runSvc } from '../../support/cli/svc.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { boardMirrorTree } from '../../support/worlds/board-mirror.ts';
import { type StandInVendor, startStandInVendor } from '../../support/worlds/stand-in-vendor.ts';
import { notesWorld } from '../../support/worlds/worlds.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-conform-world-'));
const folder = join(home, 'board');

const write = (to: string, tree: readonly TreeFile[]): void => {
  for (const { path, content } of tree) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), content);
  }
};
let database: TestDatabase;
let network: Network;
let vendor: StandInVendor;

const svc = (...words: string[]) =>
  runSvc(['worlds', ...words], {
    SVC_URL: network.url,
    SVC_PUBLIC_KEY: network.publicKey,
    SVC_SECRET_KEY: network.secretKey,
  });

const done = async (...words: string[]): Promise<string> => {
  const { status, out, err } = await svc(...words);
  expect(status, words.join(' ') + out + err).toBe(0);
  return out;
};

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: 2, poolMax: 4 });
  vendor = await startStandInVendor();
  write(folder, boardMirrorTree({ url: vendor.url }));
  await done('connector', 'capture', folder, '--max-items', '3');
  await done(
    ...['data', 'extract', folder, '--format', 'json'],
    ...['--out', `${join(folder, 'data')}/`],
  );
  await done('create', 'board', '--from', folder);
});

afterAll(async () => {
  await vendor.stop();
  await network.stop();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

it('a mirrored world answers like its vendor, in its own sessions, which are closed again', async () => {
  const asked = vendor.asked.length;
  const table = await done('connector', 'conform', 'board');
  expect(table).toContain('fidelity 100 %');
  for (const route of ['list_boards', 'list_cards', 'get_card', 'list_people', 'create_board']) {
    expect(table).toContain(route);
  }
  const report = JSON.parse(await done('connector', 'conform', 'board', '--json')) as ConformReport;
  expect(report).toMatchObject({ fidelity: 100, differences: 0, different: [], notPlayed: [] });
  expect(report.checks).toBeGreaterThan(300);
  expect(vendor.asked).toHaveLength(asked);
  // Each of the two runs opens one session for reads and one for writes.
  await until(
    async () => {
      const { body } = await network.client.send(listSessions, {});
      return body.data.map(({ state }) => state).join() === 'CLOSED,CLOSED,CLOSED,CLOSED';
    },
    { timeoutMs: 30_000, what: 'four closed sessions' },
  );
});

it('a mirrored world is reported as different in a changed version, and not in an earlier one', async () => {
  const file = join(folder, 'data', 'cards.json');
  const rows = JSON.parse(readFileSync(file, 'utf8')) as Row[];
  const planted = rows.map((row) => (row.id === 1001 ? { ...row, title: 'Planted' } : row));
  writeFileSync(file, JSON.stringify(planted));
  await done('push', 'board', folder);
  const table = await svc('connector', 'conform', 'board');
  expect(table.status, table.err).toBe(1);
  expect(table.out).toMatch(/value \/cards\/0\/title: vendor Card 1 of board 1, world Planted/);
  const result = await svc('connector', 'conform', 'board@2', '--json');
  expect(result.status).toBe(1);
  const { different, fidelity } = JSON.parse(result.out) as ConformReport;
  expect(fidelity).toBeLessThan(100);
  expect(different[0]?.differences).toContainEqual({
    ...{ kind: 'value', pointer: '/cards/0/title' },
    ...{ vendor: 'Card 1 of board 1', world: 'Planted' },
  });
  expect((await svc('connector', 'conform', 'board@1')).status).toBe(0);
});

it('a missing world, and a world without a vendor, are refused with the reason', async () => {
  const unknown = await svc('connector', 'conform', 'bord');
  expect(unknown.status).toBe(1);
  expect(unknown.err).toMatch(/^error: /);
  const asked = vendor.asked.length;
  const plain = join(home, 'plain');
  write(plain, notesWorld());
  await done('create', 'plain', '--from', plain);
  const unmirrored = await svc('connector', 'conform', 'plain', '--json');
  expect(unmirrored.status).toBe(1);
  expect(unmirrored.err).toContain('no vendor to compare with');
  expect(vendor.asked).toHaveLength(asked);
  expect(vendor.asked.every(({ method }) => method === 'GET')).toBe(true);
});
