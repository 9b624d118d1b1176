/** Tests captures of a simulated vendor: credentials, failures, kills and secrets. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract, Row, VendorContract } from '#language/contract.ts';
import { type BoardMirrorOptions, boardMirrorTree } from '#test/support/worlds/board-mirror.ts';
import { allText, capturesOf, filesOf } from '#test/support/worlds/captures.ts';
import {
  type StandInVendor,
  startStandInVendor,
  type VendorOptions,
} from '#test/support/worlds/stand-in-vendor.ts';
import { createSecrets } from '../redact/secrets.ts';
import { createAsker } from '../vendor/asker.ts';
import type { GivenArguments } from './arguments.ts';
import { captureVendor } from './capture.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-capture-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let vendor: StandInVendor | undefined;
afterEach(async () => {
  await vendor?.stop();
  vendor = undefined;
});

const begin = async (options: VendorOptions = {}): Promise<StandInVendor> => {
  vendor = await startStandInVendor(options);
  return vendor;
};

const contractOf = (options: BoardMirrorOptions): Contract & { vendor: VendorContract } => {
  const compiled = compileTree(boardMirrorTree(options));
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { contract } = compiled;
  if (contract.vendor === null) throw new Error('no vendor');
  return { ...contract, vendor: contract.vendor };
};

let folders = 0;
const newFolder = (): string => {
  folders += 1;
  return join(home, `f${folders}`);
};

const nothingGiven: GivenArguments = {
  everywhere: new Map(),
  byOperation: new Map(),
  sets: new Map(),
};

type Start = {
  folder?: string;
  env?: Record<string, string>;
  given?: Partial<GivenArguments>;
  only?: string[];
  mostItems?: number;
  /** Called before each request is sent and after it is answered. If it throws, the run ends there. */
  at?(moment: 'before' | 'after'): void;
  again?: 'asked' | 'everything';
};

const run = async (contract: Contract & { vendor: VendorContract }, start: Start = {}) => {
  const { folder = newFolder(), env = {}, given = {}, only, mostItems = 4, at, again } = start;
  const waits: number[] = [];
  const secrets = createSecrets();
  const { signal } = new AbortController();
  let clockMs = Date.now();
  const time = {
    now: () => clockMs,
    wait: async (ms: number) => {
      waits.push(ms);
      clockMs += ms;
    },
  };
  const asker = createAsker({
    ...{ vendor: contract.vendor, env, secrets, time, signal },
    mostBytes: limits.treeFileBytes,
  });
  const report = await captureVendor({
    ...{ contract, folder, secrets, time, signal, mostItems, again },
    operations: contract.vendor.operations.filter(
      ({ method, name }) => method === 'GET' && (only?.includes(name) ?? true),
    ),
    given: { ...nothingGiven, ...given },
    asker: {
      async ask(url) {
        at?.('before');
        const asked = await asker.ask(url);
        at?.('after');
        return asked;
      },
    },
  });
  return { report, folder, waits };
};

const secret = 'Sup3r/Secret+Key=&"x';

describe('capture', () => {
  it('captures lists page by page, then their items, and stores everything that a world is built from', async () => {
    const { url, asked } = await begin();
    const { report, folder } = await run(contractOf({ url }));
    expect(report.failed).toEqual([]);
    expect(report.skipped).toEqual([]);
    expect(report.operations.map(({ operation, asked: n, rows }) => [operation, n, rows])).toEqual([
      ['list_boards', 1, 3],
      ['list_people', 2, 12],
      ['list_cards', 9, 75 + 75],
      ['get_card', 4, 4 + 4],
    ]);
    expect(asked).toHaveLength(16);
    const pages = capturesOf(folder, 'list_cards').filter((one) => one.arguments.board === '2');
    expect(pages.map(({ page, last }) => [page, last]).sort()).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    // A second run has no requests left.
    const again = await run(contractOf({ url }), { folder });
    expect(again.report.operations.map((one) => one.asked)).toEqual([0, 0, 0, 0]);
    expect(asked).toHaveLength(16);
  });

  it('ignores a path in the manifest that leads outside the folder, and repeats that request', async () => {
    const { url, asked } = await begin();
    const { folder } = await run(contractOf({ url }), { only: ['list_boards'] });
    const [kept = ''] = filesOf(folder).filter((file) => file.includes('list_boards'));
    const secret = { status: 200, arguments: {}, body: [{ id: 'secret-of-this-machine' }] };
    writeFileSync(join(home, 'elsewhere.json'), JSON.stringify(secret));
    const manifest = join(folder, 'captures/manifest.jsonl');
    const lines = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, lines.replaceAll(relative(folder, kept), '../elsewhere.json'));
    expect(readFileSync(manifest, 'utf8')).toContain('../elsewhere.json');
    await run(contractOf({ url }), { folder, only: ['list_boards', 'list_cards'] });
    expect(asked.filter(({ path }) => path === '/v1/boards')).toHaveLength(2);
    expect(asked.map(({ path }) => path).join()).not.toContain('secret');
  });

  it.each([
    ['a field of the body', 'body', 'cursor_field = "next"'],
    ['a header of its own', 'header', 'cursor_header = "x-NEXT-cursor"'],
    ['an address in Link', 'link', 'cursor_header = "Link"'],
    ['a path in Link', 'relative-link', 'cursor_header = "link"'],
  ] as const)(
    'follows pages by %s, whether the cursor of the last page is empty or absent',
    async (_, paging, cursor) => {
      const bodiesOf = (folder: string) =>
        capturesOf(folder, 'list_cards')
          .map(({ arguments: given, page, last, body }) => ({
            given,
            page,
            last,
            rows: body.cards,
          }))
          .sort((a, b) => Number(a.given.board) - Number(b.given.board) || a.page - b.page);
      const plain = await begin();
      const wanted = await run(contractOf({ url: plain.url }));
      await plain.stop();
      for (const end of ['given', 'absent'] as const) {
        const { url, asked } = await begin({ paging, end });
        const { report, folder } = await run(contractOf({ url, cursor }));
        expect(report.failed).toEqual([]);
        // A cursor may be a number or a text; null, an empty text or no value ends a list.
        expect(asked.map(({ path }) => path).filter((path) => path.includes('/boards/1/'))).toEqual(
          ['/v1/boards/1/cards', '/v1/boards/1/cards?cursor=10', '/v1/boards/1/cards?cursor=c20'],
        );
        expect(asked).toHaveLength(16);
        expect(bodiesOf(folder)).toEqual(bodiesOf(wanted.folder));
        const again = await run(contractOf({ url, cursor }), { folder });
        expect(again.report.operations.every(({ asked: n }) => n === 0)).toBe(true);
        await vendor?.stop();
        vendor = undefined;
      }
    },
  );

  it('passes given arguments to one operation or to all; a list argument is repeated as the vendor requires', async () => {
    const { url, asked } = await begin();
    const byOperation = new Map([['list_cards', new Map([['board', ['2', '9']]])]]);
    const sets = new Map([['get_card', [{ id: 2_001 }, { id: 9_999 }]]]);
    const state = new Map([['list_cards', new Map([['board', ['1']]])]]);
    const { report, folder } = await run(contractOf({ url }), {
      given: { byOperation, sets },
      only: ['list_cards', 'get_card'],
    });
    expect(report.operations.map(({ statuses }) => statuses)).toEqual([
      { 200: 3, 404: 1 },
      { 200: 1, 404: 1 },
    ]);
    const listed = new Map([['list_cards', [{ board: 1, state: ['open', 'done'] }]]]);
    await run(contractOf({ url }), {
      given: { byOperation: state, sets: listed },
      only: ['list_cards'],
    });
    expect(asked.at(-1)?.path).toContain('state=open&state=done');
    expect(capturesOf(folder, 'get_card').find(({ status }) => status === 404)?.body).toMatchObject(
      {
        error: { code: 'no_such_thing' },
      },
    );
  });

  it('reports which operations it cannot request, and why', async () => {
    const { url } = await begin();
    const more = '[[operations]]\nname = "odd"\npath = "/odd/{thing}"\n';
    const redact = '[redact]\nhash = ["id"]\n';
    const { report } = await run(contractOf({ url, redact: '', more }), { only: ['odd'] });
    expect(report.skipped).toEqual([
      {
        operation: 'odd',
        reason: 'no value is given for the argument "thing": give it with --arg odd.thing=<value>',
      },
    ]);
    const hidden = contractOf({ url, redact });
    const { report: other } = await run(hidden, { only: ['list_boards', 'list_cards'] });
    expect(other.skipped[0]?.reason).toContain('"board" is redacted in captured rows');
  });

  it.each([
    ['bearer', 'scheme = "bearer"\nsecret_env = "KEY"', secret],
    ['header', 'scheme = "header"\nname = "X-Api-Key"\nsecret_env = "KEY"', secret],
    ['query', 'scheme = "query"\nname = "api_key"\nsecret_env = "KEY"', secret],
    ['basic', 'scheme = "basic"\nsecret_env = "KEY"', `robot:${secret}`],
    ['oauth2', 'scheme = "oauth2"\nsecret_env = "KEY"\nclient_id_env = "ID"', secret],
  ] as const)('authenticates by %s, and writes no secret anywhere', async (scheme, auth, held) => {
    const { url } = await begin({ scheme, secret: held, clientId: 'robot', echo: true });
    const contract = contractOf({ url, auth: `[auth]\n${auth}` });
    const { report, folder } = await run(contract, { env: { KEY: held, ID: 'robot' } });
    expect(report.failed).toEqual([]);
    const written = allText(folder) + JSON.stringify(report);
    const [, plain = held] = held.split(':');
    for (const form of [
      held,
      plain,
      encodeURIComponent(plain),
      Buffer.from(held).toString('base64'),
    ]) {
      expect(written).not.toContain(form);
      expect(written).not.toContain(JSON.stringify(form).slice(1, -1));
    }
    expect(written).toMatch(/(?:\[|%5B)secret(?:\]|%5D)/);
    await expect(run(contract, { env: { KEY: 'wrong-one', ID: 'robot' } })).rejects.toThrow(
      /^(?!.*wrong-one).*(refuses the credential from KEY|issued no token)/,
    );
    await expect(run(contract, { env: {} })).rejects.toThrow('KEY is not set');
  });

  it('refreshes a token before it expires, and when the vendor revokes it', async () => {
    const started = await begin({
      ...{ scheme: 'oauth2', secret, clientId: 'robot', failures: { 4: 'expired' } },
    });
    const auth = '[auth]\nscheme = "oauth2"\nsecret_env = "KEY"\nclient_id_env = "ID"';
    const { report } = await run(contractOf({ url: started.url, auth }), {
      env: { KEY: secret, ID: 'robot' },
    });
    expect(report.failed).toEqual([]);
    expect(started.tokens).toBe(2);
  });

  it('retries after the delay that the vendor names, and lists requests that never succeed', async () => {
    const five = Object.fromEntries([9, 10, 11, 12, 13].map((n) => [n, 'broken' as const]));
    const { url } = await begin({
      failures: { 1: 'busy', 3: 'down', 5: 'broken', 7: 'cut', ...five },
    });
    const { report, waits, folder } = await run(contractOf({ url }), {
      only: ['list_boards', 'list_cards'],
    });
    expect(waits.filter((ms) => ms === 3_000)).toHaveLength(1);
    expect(waits.filter((ms) => ms === 1_000).length).toBeGreaterThanOrEqual(3);
    expect(report.failed).toEqual([
      expect.objectContaining({ operation: 'list_cards', reason: 'its body is broken JSON' }),
    ]);
    // The next run repeats only that request, and those that would have followed it.
    const next = await run(contractOf({ url }), { folder, only: ['list_boards', 'list_cards'] });
    expect(next.report.failed).toEqual([]);
    expect(next.report.operations.reduce((sum, one) => sum + one.rows, 0)).toBe(3 + 150);
  });

  it('keeps all earlier captures when it runs again with a wrong credential', async () => {
    const { url } = await begin({ scheme: 'bearer', secret });
    const auth = '[auth]\nscheme = "bearer"\nsecret_env = "KEY"';
    const contract = contractOf({ url, auth });
    const { folder } = await run(contract, { env: { KEY: secret } });
    const captures = () => filesOf(folder).filter((file) => file.endsWith('.json'));
    const before = captures().map((file) => [file, readFileSync(file, 'utf8')]);
    for (const again of ['asked', 'everything'] as const) {
      const wrong = run(contract, { folder, again, env: { KEY: 'wrong-one' } });
      await expect(wrong).rejects.toThrow('refuses the credential from KEY');
      expect(captures().map((file) => [file, readFileSync(file, 'utf8')])).toEqual(before);
    }
  });

  it('replaces captures when it runs again; after a full run, it removes those of objects that the vendor no longer has', async () => {
    const many = await begin({ boards: 3 });
    const { folder } = await run(contractOf({ url: many.url }));
    const before = filesOf(folder).length;
    await many.stop();
    const few = await begin({ boards: 1 });
    const contract = contractOf({ url: few.url });
    const some = await run(contract, { folder, only: ['list_boards'], again: 'asked' });
    expect(some.report.operations).toMatchObject([{ asked: 1, known: 0 }]);
    expect(filesOf(folder)).toHaveLength(before);
    expect(capturesOf(folder, 'list_boards')).toMatchObject([{ body: expect.anything() }]);
    const all = await run(contract, { folder, again: 'everything' });
    expect(all.report.operations.every(({ known }) => known === 0)).toBe(true);
    const fresh = await run(contract);
    const names = (of: string) =>
      filesOf(of)
        .map((file) => file.slice(of.length))
        .toSorted();
    expect(names(folder)).toEqual(names(fresh.folder));
    expect(
      (await run(contract, { folder })).report.operations.every(({ asked }) => asked === 0),
    ).toBe(true);
  });

  it('sends no credentials when it follows a redirect, except to the same origin', async () => {
    const other = await startStandInVendor();
    const { url, asked } = await begin({ scheme: 'bearer', secret });
    const at = (to: string) =>
      `[[operations]]\nname = "moved"\npath = "/moved"\nparams = ["to"]\n# ${to}`;
    const auth = '[auth]\nscheme = "bearer"\nsecret_env = "KEY"\nheaders = { X-Tenant = "TENANT" }';
    const env = { KEY: secret, TENANT: 'tenant-secret' };
    const contract = contractOf({ url, auth, more: at('x') });
    const given = (to: string) => ({ sets: new Map([['moved', [{ to }]]]) });
    try {
      const home = await run(contract, { env, only: ['moved'], given: given('/v1/boards') });
      expect(home.report.operations[0]?.statuses).toEqual({ 200: 1 });
      expect(asked.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
      await run(contract, { env, only: ['moved'], given: given(`${other.url}/boards`) });
      expect(other.asked).toHaveLength(1);
      expect(other.asked[0]?.headers.authorization).toBeUndefined();
      expect(other.asked[0]?.headers['x-tenant']).toBeUndefined();
      const leak = given(`${other.url}/boards?k=${encodeURIComponent(secret)}`);
      const { report } = await run(contract, { env, only: ['moved'], given: leak });
      expect(report.failed[0]?.reason).toContain('with the credential in the URL');
      expect(other.asked).toHaveLength(1);
    } finally {
      await other.stop();
    }
  });

  it('stores none of 500 planted secrets and personal values, not even as an argument of a request', async () => {
    const people = 160;
    const { url, personal } = await begin({ scheme: 'bearer', secret, people, echo: true });
    const asked = personal.filter((text) => text.includes('@')).slice(0, 20);
    const { report, folder } = await run(
      contractOf({
        url,
        auth: '[auth]\nscheme = "bearer"\nsecret_env = "KEY"',
        capture: 'timeout_seconds = 20',
      }),
      {
        env: { KEY: secret },
        given: { sets: new Map([['list_people', [{}, ...asked.map((email) => ({ email }))]]]) },
      },
    );
    expect(personal.length).toBeGreaterThan(500);
    const written = allText(folder) + JSON.stringify(report);
    const left = [...personal, secret].filter(
      (text) => written.includes(text) || written.includes(encodeURIComponent(text)),
    );
    expect(left).toEqual([]);
    expect(capturesOf(folder, 'list_people').length).toBeGreaterThan(20);
    const [first] = capturesOf(folder, 'list_people').flatMap(({ body }) => body.people as Row[]);
    expect(first).toMatchObject({ email: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
    expect(first?.lat).toBe(Math.round(Number(first?.lat) * 100) / 100);
  });
});

describe('a capture that is killed', () => {
  it('resumes after a kill at any of 50 moments, and repeats only requests that were in progress', async () => {
    const { url, asked } = await begin({ boards: 12, cardsPerBoard: 25 });
    const contract = contractOf({ url });
    const whole = await run(contract, { mostItems: 20 });
    expect(asked.length).toBeGreaterThan(50);
    const wanted = asked.map(({ path }) => path).sort();
    asked.length = 0;
    const folder = newFolder();
    const killed: string[] = [];
    for (let isDone = false; !isDone; ) {
      let left = 1;
      const end = killed.length % 2 === 0 ? 'before' : 'after';
      try {
        await run(contract, {
          folder,
          mostItems: 20,
          at(moment) {
            if (moment !== end || killed.length === 50) return;
            if (left === 0) {
              killed.push(moment === 'after' ? (asked.at(-1)?.path ?? '') : '');
              throw new Error('killed');
            }
            left -= 1;
          },
        });
        isDone = true;
      } catch (error) {
        if (!(error instanceof Error) || error.message !== 'killed') throw error;
      }
    }
    expect(killed).toHaveLength(50);
    // Only requests that were in progress are repeated.
    const twice = killed.filter((path) => path !== '');
    expect(asked.map(({ path }) => path).sort()).toEqual([...wanted, ...twice].sort());
    const bodies = (of: string) =>
      filesOf(of)
        .filter((file) => file.endsWith('.json'))
        .map((file) => {
          const { captured_at: _, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Row;
          return JSON.stringify(rest);
        })
        .sort();
    expect(bodies(folder)).toEqual(bodies(whole.folder));
  });
});
