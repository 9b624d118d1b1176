/** Tests malicious files: each ends in a refusal that describes the fault, within limits. */
import { readFileSync } from 'node:fs';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { createImportFiles, planOf, readRefusals } from '#test/support/data/import-files.ts';
import type { ImportLimits } from './limits.ts';
import { runImport } from './run.ts';

const files = createImportFiles();
afterAll(() => files.remove());

const mebibyte = 1024 * 1024;

const refuse = async (
  given: readonly string[] | { bytes: Uint8Array; rows: number },
  limits: Partial<ImportLimits> = {},
  entity: string | undefined = 'users',
) => {
  const plan = planOf(files.folder(), { chunks: [files.chunk(0, given, entity)] });
  const outcome = await runImport(plan, () => undefined, limits);
  return { ...outcome, found: readRefusals(outcome) };
};

const good = '{"login":"ann","id":1}';

describe('a file', () => {
  it('is refused if it is not gzip, ends early, or is followed by other bytes', async () => {
    const whole = gzipSync(`${good}\n`);
    const cases = [
      Buffer.from(`${good}\n`),
      whole.subarray(0, whole.length - 6),
      Buffer.concat([whole, Buffer.from('garbage')]),
      deflateRawSync(good),
      Buffer.alloc(0),
    ];
    for (const bytes of cases) {
      const { kind, found } = await refuse({ bytes, rows: 1 });
      expect(kind).toBe('refused');
      expect(found.at(-1)?.detail).toMatch(/^the chunk (is not a complete gzip file|has 0 rows)/);
    }
  });

  it('is refused if it unpacks to more than the limit', async () => {
    const bytes = gzipSync(Buffer.alloc(64 * mebibyte, ' '));
    const { found } = await refuse({ bytes, rows: 1 }, { unpackedChunkBytes: 4 * mebibyte });
    expect(found).toEqual([
      expect.objectContaining({
        chunk: 0,
        index: null,
        detail: expect.stringContaining('unpacks to more than'),
      }),
    ]);
  });

  it('is refused if its number of rows differs from the declared one', async () => {
    const { found } = await refuse({ bytes: gzipSync(`${good}\n\n`), rows: 2 });
    expect(found[0]?.detail).toBe('the chunk has 1 rows, but was declared to have 2');
  });

  it('may have a byte order mark, Windows line ends, and no final line end', async () => {
    const text = `\ufeff{"login":"ann","id":1}\r\n\r\n{"login": "bob", "id": 2}`;
    const plan = planOf(files.folder(), {
      chunks: [files.chunk(0, { bytes: gzipSync(text), rows: 2 }, 'users')],
    });
    expect(await runImport(plan)).toMatchObject({ kind: 'applied', landed: { users: 2 } });
  });
});

describe('a line', () => {
  it('that is too long is skipped without being buffered, and the next line is read', async () => {
    const before = process.memoryUsage.rss();
    const bytes = gzipSync(
      Buffer.concat([Buffer.alloc(96 * mebibyte, 'x'), Buffer.from(`\n${good}\n`)]),
    );
    const { found, refused } = await refuse({ bytes, rows: 2 }, { lineBytes: mebibyte });
    expect(refused).toBe(1);
    expect(found[0]).toMatchObject({
      index: 0,
      detail: 'is longer than 1048576 bytes, the maximum for a row',
    });
    expect(process.memoryUsage.rss() - before).toBeLessThan(250 * mebibyte);
  });

  it('that is not UTF-8 is refused, and the other lines are read', async () => {
    const latin = Buffer.concat([
      Buffer.from(`${good}\n{"login":"`),
      Buffer.from([0xe9]),
      Buffer.from('","id":2}\n{"login":"'),
      Buffer.from('é').subarray(0, 1),
      Buffer.from('","id":3}\n'),
    ]);
    const { found } = await refuse({ bytes: gzipSync(latin), rows: 3 });
    expect(found.map(({ index, detail }) => [index, detail])).toEqual([
      [1, 'is not UTF-8; write the file in UTF-8'],
      [2, 'is not UTF-8; write the file in UTF-8'],
    ]);
    const utf16 = await refuse({
      bytes: gzipSync(Buffer.from(`\ufeff${good}\n`, 'utf16le')),
      rows: 2,
    });
    expect(utf16.found[0]?.detail).toBe('is not UTF-8; write the file in UTF-8');
  });

  it.each([
    ['{"login":"ann","id":1,"login":"bob"}', '/login', 'is written twice'],
    [
      '{"login":"ann","id":1,"profile":{"email":"a","email":"b"}}',
      '/profile/email',
      'is written twice',
    ],
    ['{"login":"ann","id":9007199254740993}', '/id', 'is a number with more digits'],
    ['{"login":"ann","id":9007199254740992}', '/id', 'is a number with more digits'],
    ['{"login":"ann","id":1e999}', '/id', 'is a number with more digits'],
    ['{"login":"ann",', null, 'is not valid JSON'],
    ['{"login":"ann","id":NaN}', null, 'is not valid JSON'],
    ['[1,2]', null, 'must be an object, is a list'],
    ['null', null, 'must be an object, is null'],
    ['{"login":"\\ud800","id":1}', '/login', 'contains half of a surrogate pair'],
    ['{"login":"a","id":1,"__proto__":{"x":1}}', '/__proto__', 'is not a known field'],
  ])('%s is refused', async (line, pointer, detail) => {
    const { found } = await refuse([line]);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ index: 0, pointer });
    expect(found[0]?.detail).toContain(detail);
  });

  it('that nests too deeply is refused, however deep it is', async () => {
    for (const depth of [70, 3_000, 1_000_000]) {
      const nested = `{"login":"ann","id":1,"profile":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      const hidden = `{"login":"ann","profile":${'['.repeat(depth)}${']'.repeat(depth)},"profile":{},"id":1}`;
      const { found } = await refuse([nested, hidden]);
      expect(found.map((each) => each.detail)).toEqual([
        'nests deeper than 64 levels',
        'nests deeper than 64 levels',
      ]);
    }
  });

  it('with ten thousand fields is refused', async () => {
    const fields = Array.from({ length: 10_000 }, (_, index) => `"c${index}":${index}`);
    const { found } = await refuse([`{${fields.join(',')}}`]);
    expect(found[0]?.detail).toBe('has more than 2000 fields');
  });

  it('without an entity, or with an unknown entity, is refused, and the message names the entities', async () => {
    const lines = [
      '{"login":"ann"}',
      '{"entity":"user","row":{}}',
      '{"entity":"users","row":{},"x":1}',
    ];
    const plan = planOf(files.folder(), { chunks: [files.chunk(0, lines)] });
    const outcome = await runImport(plan);
    expect(readRefusals(outcome).map(({ detail }) => detail)).toEqual([
      expect.stringContaining('the line must be {"entity"'),
      'the world has no entity "user"; it has users, repos, issues',
      expect.stringContaining('has "x" beside "entity" and "row"'),
    ]);
    const other = await runImport(
      planOf(files.folder(), { chunks: [files.chunk(0, [good], 'users')], entities: ['repos'] }),
    );
    expect(readRefusals(other)[0]?.detail).toContain('are not allowed in this import');
  });
});

describe('many refusals', () => {
  it('are all counted, but only recorded up to a limit', async () => {
    const lines = Array.from({ length: 500 }, () => '{}');
    const { refused, found } = await refuse(lines, { notedRefusals: 20 });
    expect([refused, found.length]).toEqual([500, 20]);
    const few = await refuse(lines, { notedChars: 1_000 });
    expect(few.refused).toBe(500);
    expect(readFileSync(few.refusals ?? '').length).toBeLessThan(1_500);
  });

  it('quote no more of a row than a few hundred characters', async () => {
    const long = 'x'.repeat(2 * mebibyte);
    const lines = [`{"login":"${long}","id":"${long}"}`, `{"login":"a","id":1,"${long}":1}`];
    const { found } = await refuse(lines);
    for (const refusal of found) expect(JSON.stringify(refusal).length).toBeLessThan(10_000);
  });
});

it('an import that exceeds the size limit of a world is refused', async () => {
  const lines = Array.from({ length: 3_000 }, (_, id) =>
    JSON.stringify({ login: `user${id}`, id, profile: { email: `${'x'.repeat(900)}${id}` } }),
  );
  const { found } = await refuse(lines, { storeBytes: mebibyte });
  expect(found[0]?.detail).toMatch(
    /^the world's rows and those of this import together take more than 0\.0 GiB/,
  );
});
