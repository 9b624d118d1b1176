/**
 * Tests that each kind of difference between a vendor's answers and a world's is found at its place, and that no other
 * is reported.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePointer } from '#domain/json.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Row } from '#language/contract.ts';
import { textFile } from '#language/edit/tree-text.ts';
import { valueAtPath } from '#language/field-path.ts';
import { readTree } from '#runtime/tree.ts';
import { testContext } from '#test/support/cli/context.ts';
import { conformServed } from '#test/support/templates/conform-served.ts';
import { boardMirrorTree } from '#test/support/worlds/board-mirror.ts';
import { startStandInVendor } from '#test/support/worlds/stand-in-vendor.ts';
import { runCommandLine } from '../../cli/program.ts';
import { capturesOf } from '../../cli/service/captured-world.ts';
import type { Answer } from './compare.ts';
import { conform } from './conform.ts';
import { planPlays } from './plan.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-differences-'));

const run = async (...words: string[]): Promise<void> => {
  const context = testContext({ cwd: folder });
  expect(await runCommandLine(['worlds', ...words], context), context.written().err).toBe(0);
};

beforeAll(async () => {
  const vendor = await startStandInVendor();
  for (const { path, content } of boardMirrorTree({ url: vendor.url })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  await run('connector', 'capture', './', '--max-items', '5');
  await run('connector', 'capture', './', '--operation', 'get_card', '--arg', 'id=9999');
  await run('data', 'extract', './', '--format', 'json', '--out', 'data/');
  await vendor.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a comparison of answers', () => {
  it('finds each of 20 kinds of differences at the place where it was planted', async () => {
    const files = readTree(folder);
    const compiled = compileTree(files);
    if (!compiled.ok) throw new Error('it compiled before');
    const { contract, baseRows } = compiled;
    const captures = capturesOf(folder, files);
    const plan = planPlays(contract, captures, (entity) => baseRows[entity] ?? []);
    // Returns the captured answer to a request, as a world without differences would give it.
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
    /** Changes to the bodies of lists; undefined removes the value. */
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
      const found = named.map((each) => `${each.kind} ${each.pointer}`);
      expect(found, found.join()).toContain(`${kind} ${pointer}`);
      expect(fidelity).toBeLessThan(100);
    }
    expect(planted.length).toBeGreaterThan(20);
  });

  it('finds differences of error bodies, but ignores what errors repeat from the request', async () => {
    const files = readTree(folder);
    expect(await conformServed(files)).toMatchObject({ fidelity: 100, different: [] });
    const changed = files.map((file) => {
      if (file.path !== 'connector.toml') return file;
      const text = new TextDecoder().decode(file.content);
      return textFile(file.path, text.replace('"hint": "look again"', '"hint": "go away"'));
    });
    const { different } = await conformServed(changed);
    expect(different.flatMap((one) => one.differences)).toEqual([
      { kind: 'value', pointer: '/error/hint', vendor: 'look again', world: 'go away' },
    ]);
  });
});
