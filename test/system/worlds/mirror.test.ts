/** Tests mirroring a vendor by the commands that users run: the resulting world gives the same answers. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { ConformReport } from '#mirror/conform/conform.ts';
import { readTree } from '#runtime/tree.ts';
import { runSvc } from '../../support/cli/svc.ts';
import { boardMirrorTree } from '../../support/worlds/board-mirror.ts';
import { type StandInVendor, startStandInVendor } from '../../support/worlds/stand-in-vendor.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-mirror-'));
const folder = join(home, 'board');
const secret = 'canary-secret-0815';
let vendor: StandInVendor;
const printed: string[] = [];

const svc = async (...words: string[]) => {
  const ended = await runSvc(words, { BOARD_SECRET: secret });
  printed.push(ended.out, ended.err);
  return ended;
};

beforeAll(async () => {
  vendor = await startStandInVendor({ scheme: 'bearer', secret, failures: { 3: 'down' } });
  const auth = '[auth]\nscheme = "bearer"\nsecret_env = "BOARD_SECRET"';
  for (const { path, content } of boardMirrorTree({ url: vendor.url, auth })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
});

afterAll(async () => {
  await vendor.stop();
  rmSync(home, { recursive: true, force: true });
});

const reportOf = (out: string): ConformReport => JSON.parse(out) as ConformReport;

describe('a mirrored vendor', () => {
  it('is captured, and its world gives the same answers: 100 %', async () => {
    const captured = await svc(
      'worlds',
      'connector',
      'capture',
      folder,
      '--max-items',
      '5',
      '--json',
    );
    expect(captured.err).toContain('the vendor answered status 503');
    expect(captured.status, captured.err).toBe(0);
    const unfit = await svc('worlds', 'connector', 'conform', folder);
    expect(unfit.status, unfit.out + unfit.err).toBe(0);
    expect(unfit.out).toContain('fidelity 100 %');
    const rows = await svc(
      ...['worlds', 'data', 'extract', folder, '--format', 'json'],
      ...['--out', `${join(folder, 'data')}/`],
    );
    expect(rows.err).toMatch(/read \d+, rows \d+, unknown fields 0.* 0 preserved/);
    const done = await svc('worlds', 'connector', 'conform', folder, '--json');
    expect(done.status, done.out + done.err).toBe(0);
    const report = reportOf(done.out);
    expect(report).toMatchObject({ fidelity: 100, differences: 0, notPlayed: [] });
    expect(report.checks).toBeGreaterThan(500);
    expect(report.routes.map(({ operation, isCaptured }) => [operation, isCaptured])).toEqual([
      ['list_boards', true],
      ['list_cards', true],
      ['get_card', true],
      ['list_people', true],
      ['create_board', false],
    ]);
  });

  it('is compared with its current answers by reads only', async () => {
    const before = vendor.asked.length;
    const done = await svc(
      'worlds',
      'connector',
      'conform',
      folder,
      '--against',
      'vendor',
      '--json',
    );
    expect(done.status, done.out + done.err).toBe(0);
    expect(reportOf(done.out).fidelity).toBe(100);
    const asked = vendor.asked.slice(before);
    expect(asked.length).toBeGreaterThan(10);
    expect(new Set(asked.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  it('leaves no secret and no personal value in captures, rows or the terminal', () => {
    const texts = readTree(folder).map(({ content }) => Buffer.from(content).toString());
    const all = [...texts, ...printed].join('\n');
    expect([secret, ...vendor.personal].filter((text) => all.includes(text))).toEqual([]);
  });
});

describe('differences', () => {
  it('are each found and named, and shown side by side', async () => {
    const file = join(folder, 'data', 'cards.json');
    const before = readFileSync(file, 'utf8');
    const rows = JSON.parse(before) as Row[];
    writeFileSync(
      file,
      JSON.stringify(rows.map((row) => (row.id === 1001 ? { ...row, title: 'Planted' } : row))),
    );
    const done = await svc('worlds', 'connector', 'conform', folder);
    writeFileSync(file, before);
    expect(done.status).toBe(1);
    expect(done.out).toMatch(/value \/cards\/0\/title: vendor Card 1 of board 1, world Planted/);
    expect(done.out).toMatch(/"title": "Card 1 of board 1",\s+\|\s+"title": "Planted",/);
  });
});
