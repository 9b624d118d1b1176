/** A vendor mirrored from its answers to a world that gives the same ones, by the commands that people use. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePointer } from '#domain/json.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import type { Answer } from '#mirror/conform/compare.ts';
import { type ConformReport, conform } from '#mirror/conform/conform.ts';
import { planPlays } from '#mirror/conform/plan.ts';
import { readTree } from '#runtime/tree.ts';
import { capturesOf } from '../../src/cli/service/captured-world.ts';
import { boardMirrorTree } from '../support/board-mirror.ts';
import { type StandInVendor, startStandInVendor } from '../support/stand-in-vendor.ts';
import { runSvc } from '../support/svc.ts';

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
  it('is captured, and its world answers the same: 100 %', async () => {
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

  it('is compared with what the vendor answers now, which is only read', async () => {
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
  it('are each found and named, side by side for people', async () => {
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

  it('of 20 kinds are each found where they were planted', async () => {
    const files = readTree(folder);
    const compiled = compileTree(files);
    if (!compiled.ok) throw new Error('it compiled before');
    const { contract, baseRows } = compiled;
    const captures = capturesOf(folder, files);
    const plan = planPlays(contract, captures, (entity) => baseRows[entity] ?? []);
    // Answers as they were captured, by request: what a world that differs in nothing would give.
    const answerTo = (path: string): Answer => {
      const url = new URL(path, 'http://world');
      const all = [...captures.values()].flat().map(({ capture }) => capture);
      const page = Number(url.searchParams.get('cursor')?.replace(/\D/g, '') ?? 0) / 10 + 1;
      const found = all.find(
        (one) =>
          (one.page ?? 1) === page && new URL(one.url ?? '').pathname === `/v1${url.pathname}`,
      );
      if (found === undefined) return { status: 404, headers: {}, body: null };
      const headers = Object.fromEntries(found.headers ?? []);
      return structuredClone({ status: found.status, headers, body: found.body });
    };
    /** Where the bodies of a list are changed; undefined takes the value away. */
    const planted: [kind: string, pointer: string, list: string, value: unknown][] = [
      ['value', '/cards/2/title', 'cards', 'x'],
      ['missing', '/cards/1/due', 'cards', undefined],
      ['added', '/cards/0/extra', 'cards', 1],
      ['type', '/cards/0/id', 'cards', '1001'],
      ['type', '/cards/0/due', 'cards', null],
      ['value', '/cards/0/owner/login', 'cards', 'z'],
      ['added', '/cards/0/owner/phone', 'cards', '1'],
      ['value', '/cards/0/points', 'cards', 7.25],
      ['rows', '/cards', 'cards', 'fewer'],
      ['order', '/cards', 'cards', 'reversed'],
      ['type', '/cards', 'cards', undefined],
      ['value', '/total', 'boards', 99],
      ['missing', '/total', 'boards', undefined],
      ['type', '/total', 'boards', '3'],
      ['added', '/debug', 'people', true],
      ['paging', 'page 1', 'people', ''],
      ['value', '/people/0/email', 'people', 'plain'],
      ['value', '/people/0/contact/backup', 'people', []],
      ['value', '/people/0/lat', 'people', 59.1],
      ['status', '', 'boards', 202],
      ['header', 'content-type', 'boards', 'text/plain'],
      ['header', 'link', 'boards', '<x>; rel="next"'],
    ];
    const put = (body: unknown, path: string[], value: unknown): void => {
      const last = path.at(-1) ?? '';
      const holder = valueAtPath(body, path.slice(0, -1)) as Row;
      if (value === undefined) delete holder[last];
      else holder[last] = value;
    };
    const plant = (
      answer: Answer,
      [kind, pointer, list, value]: (typeof planted)[number],
    ): Answer => {
      const body = answer.body as Row | null;
      if (body?.[list] === undefined) return answer;
      const rows = body[list] as Row[];
      if (kind === 'status') return { ...answer, status: 202 };
      if (kind === 'header') {
        return { ...answer, headers: { ...answer.headers, [pointer]: String(value) } };
      }
      if (kind === 'paging') body.next = value;
      else if (value === 'fewer') body[list] = rows.slice(0, 7);
      else if (value === 'reversed') rows.reverse();
      else if (parsePointer(pointer).length < 2 || rows[0] !== undefined) {
        put(body, parsePointer(pointer), value);
      }
      return answer;
    };
    const options = { contract, plan, base: 'http://world' };
    const clean = await conform({ ...options, ask: async ({ path }) => answerTo(path) }, 'reads');
    expect(clean.different).toEqual([]);
    expect(clean.fidelity).toBe(100);
    for (const one of planted) {
      const [kind, pointer] = one;
      const ask = async ({ path }: { path: string }) => plant(answerTo(path), one);
      const { different, fidelity } = await conform({ ...options, ask }, 'reads');
      const named = different.flatMap(({ differences }) => differences);
      const told = named.map((each) => `${each.kind} ${each.pointer}`);
      expect(told, told.join()).toContain(`${kind} ${pointer}`);
      expect(fidelity).toBeLessThan(100);
    }
    expect(planted.length).toBeGreaterThan(20);
  });

  it('of error bodies are found, but not what errors repeat of the request', async () => {
    const words = ['--operation', 'get_card', '--arg', 'id=9999'];
    const captured = await svc('worlds', 'connector', 'capture', folder, ...words);
    expect(captured.status, captured.err).toBe(0);
    const same = await svc('worlds', 'connector', 'conform', folder, '--json');
    expect(same.status, same.out).toBe(0);
    const file = join(folder, 'connector.toml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"hint": "look again"', '"hint": "go away"'));
    const other = await svc('worlds', 'connector', 'conform', folder, '--json');
    writeFileSync(file, text);
    expect(other.status).toBe(1);
    expect(reportOf(other.out).different.flatMap((one) => one.differences)).toEqual([
      { kind: 'value', pointer: '/error/hint', vendor: 'look again', world: 'go away' },
    ]);
  });
});
