import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { until } from '#runtime/pause.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { openWorldStore } from '#store/world-store.ts';
import { processorMs } from '#test/support/programs/processor-time.ts';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { openLedger } from '../ledger/ledger.ts';
import type { ProcessBounds } from '../usercode/boundary/boundary.ts';
import { createMemoryPool } from '../usercode/boundary/watch.ts';
import { findPython } from '../usercode/python/python.ts';
import { startVerifier, type VerifierLimits } from './verifier.ts';

const contract = sampleContract();
const openStore = (rows: Record<string, Row[]>) =>
  openWorldStore({ contract, snapshot: buildSnapshot(contract, rows).bytes });
const store = openStore(sampleRows);
const ledger = openLedger();
for (const operation of ['get_issue', 'close_all']) {
  ledger.note({
    at: '2026-01-01T00:00:00.000Z',
    via: operation === 'close_all' ? 'tool' : 'api',
    operation,
    method: null,
    path: null,
    status: null,
    request: { number: 7 },
    response: null,
    duration_ms: 1,
    changes: {},
    call_id: null,
  });
}
afterAll(() => {
  ledger.close();
  store.close();
});

const memory = { mb: 360, pool: createMemoryPool(360 * 2 ** 20) };
const bounds = { python: await findPython('python3'), mode: 'auto', memory } as const;

const run = async (
  source: string,
  limits?: VerifierLimits,
  over = store,
  by: ProcessBounds = bounds,
) => {
  const file = over.upon?.path;
  const verifier = startVerifier({ contract, source, bounds: by, file, limits });
  try {
    await verifier.copy(over, ledger);
    return await verifier.judge();
  } finally {
    await verifier.end();
  }
};
const refused = (source: string, limits?: VerifierLimits) =>
  run(source, limits).then(
    () => undefined,
    ({ error }) => error,
  );

describe('a verifier', () => {
  it('runs without a sandbox if there is no Python', async () => {
    const alone = { python: undefined, mode: 'auto' } as const;
    const checks = await run('select 1 as passed', undefined, store, alone);
    expect(checks).toMatchObject([{ passed: true }]);
  });

  it('returns one check for each row', async () => {
    expect(
      await run(`
        select 'issue ' || number as name, state = 'closed' as passed from issues order by id;
        -- that is all
      `),
    ).toEqual([
      { name: 'issue 1', passed: false },
      { name: 'issue 2', passed: expect.any(Boolean) },
      { name: 'issue 1', passed: expect.any(Boolean) },
    ]);
    expect(await run('select count(*) = 2 as passed from users')).toEqual([
      { name: null, passed: true },
    ]);
    expect(await run('select null as passed')).toEqual([{ name: null, passed: false }]);
    expect(await run('select 1 as passed from users where login = 0')).toEqual([]);
  });

  it('reads keys, fields within payloads, and the request ledger', async () => {
    const [check] = await run(`with asked as (select * from svc_requests where via = 'tool')
      select count(*) = 1 and max(payload ->> '$.request.number') = 7
             and (select _key from issues where id = 10) = '[10]' as passed from asked`);
    expect(check?.passed).toBe(true);
  });

  it('can sort, group and store more than fits into the page cache', async () => {
    const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000),
      t as materialized (select i, hex(i * 7919 % 1000003) || '${'a'.repeat(40)}' as text from n)`;
    const checks = await run(`${numbers}
      select 'sorted' as name, (select count(*) from (select row_number() over (order by text) from t)) = 150000 as passed
      union all select 'grouped', (select count(*) from (select text from t group by text)) = 150000
      union all select 'distinct', (select count(distinct text) from t) = 150000`);
    expect(checks.map(({ name, passed }) => [name, passed])).toEqual([
      ['sorted', true],
      ['grouped', true],
      ['distinct', true],
    ]);
  });

  it('can only read, and reports why it cannot grade', async () => {
    const broken: [string, RegExp][] = [
      ['delete from issues', /the query may only read/],
      ["attach '/tmp/x.db' as x", /the query may only read/],
      ['pragma user_version = 3', /the query may only read/],
      ["select load_extension('x') as passed", /./],
      ['select 1 as passed; select 0 as passed', /more than one statement/],
      ['select 1 as passed from isues', /no such table/],
      ['select 2 as passed', /row 1 has 2 as "passed"/],
      ["select 'yes' as passed", /row 1 has "yes"/],
      ["select json('{') as passed", /malformed JSON/],
      ['', /no query/],
      [
        'with recursive n (i) as (select 1 union all select i + 1 from n) select 1 as passed from n',
        /more than 1000 rows/,
      ],
    ];
    for (const [source, message] of broken) {
      const error = await refused(source);
      expect(error, source).toMatchObject({ code: 'bad_verifier' });
      expect(error.message, source).toMatch(message);
    }
    expect(store.digest()).toBe(openStore(sampleRows).digest());
  });

  it('is stopped if it takes too long, while the host continues', async () => {
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 10);
    const endless = `with recursive n (i) as (select 1 union all select i + 1 from n)
      select count(*) as passed from n`;
    const error = await refused(endless, { loadMs: 10_000, queryMs: 500 });
    clearInterval(counting);
    expect(error).toEqual({ code: 'timeout', message: 'the verifier was stopped after 0.5 s' });
    expect(turns).toBeGreaterThan(20);
    // Nested views need their time, or their memory, before the query runs.
    const views = Array.from(
      { length: 20 },
      (_, n) => `v${n + 1} as (select a.x from v${n} a, v${n} b)`,
    );
    const slow = `with v0 as (select 1 as x), ${views.join(', ')} select x as passed from v20`;
    expect(await refused(slow, { loadMs: 10_000, queryMs: 300 })).toMatchObject({
      code: expect.stringMatching(/^(timeout|crashed)$/),
    });
    await until(() => !process.getActiveResourcesInfo().includes('ProcessWrap'), {
      timeoutMs: 30_000,
      what: 'the end of the processes',
    });
  });

  it('is stopped if it uses more than its share of the host’s memory', async () => {
    const hungry = 'select length(zeroblob(900000000) || randomblob(900000000)) as passed';
    const error = await refused(hungry, { loadMs: 10_000, queryMs: 20_000 });
    expect(error).toEqual({
      code: 'crashed',
      message: `the verifier cannot grade: it took more than 240 MiB of memory`,
    });
  });

  it('fails if the rows are not copied in time', async () => {
    const error = await refused('select 1 as passed', { loadMs: 1, queryMs: 1_000 });
    expect(error).toMatchObject({ code: 'timeout' });
  });

  it('reads the rows of a store that is based on a file from that file, with the session’s changes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-verifier-'));
    const file = join(folder, 'base');
    await writeFile(file, zstdDecompressSync(buildSnapshot(contract, sampleRows).bytes));
    const upon = openWorldStore({ contract, file });
    await upon.atomically(() => {
      upon.remove('issues', { id: 12 });
      upon.update('issues', { id: 10 }, { title: 'changed' });
      upon.insert('users', { login: 'cy', id: 3 });
    });
    const source = `
      select (select group_concat(id || title, ',') from (select * from issues order by id)) as name, 1 as passed
      union all select (select group_concat(login, ',') from users), 1
      union all select (select count(*) from issues join repos on repo = name), 1`;
    const held = openStore(sampleRows);
    await held.atomically(() => {
      held.remove('issues', { id: 12 });
      held.update('issues', { id: 10 }, { title: 'changed' });
      held.insert('users', { login: 'cy', id: 3 });
    });
    const found = await run(source, undefined, upon);
    expect(found).toEqual(await run(source, undefined, held));
    expect(found[0]?.name).toContain('10changed');
    held.close();
    upon.close();
    await rm(folder, { recursive: true });
  });

  it('grades a large world without blocking the host', async () => {
    const users = Array.from({ length: 60_000 }, (_, id) => ({ login: `user ${id}`, id }));
    const large = openStore({ users });
    let longest = 0;
    let last = processorMs();
    const watching = setInterval(() => {
      longest = Math.max(longest, processorMs() - last);
      last = processorMs();
    }, 1);
    const [check] = await run('select count(*) = 60000 as passed from users', undefined, large);
    clearInterval(watching);
    expect(check?.passed).toBe(true);
    expect(longest).toBeLessThan(400);
    large.close();
  });
});
