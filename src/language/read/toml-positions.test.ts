import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { escapeSegment } from '#domain/json.ts';
import { locateIn, outlinesOf, valuesOf } from '#test/support/worlds/positions.ts';
import type { Outline } from './positions.ts';
import { outlineToml } from './toml-positions.ts';

const inToml = locateIn(outlineToml);

/** Returns true for a header, or for the name of a table that only its parts define. */
const isHeading = (part: string, held: unknown): boolean => {
  try {
    return JSON.stringify(parse(`v = ${part}`).v) !== JSON.stringify(held);
  } catch {
    return true;
  }
};

/** Compares every value of a text, and every key, with the text at its position. */
const expectOutlined = (text: string): void => {
  const outlines = new Map(outlinesOf(outlineToml(text)));
  const values = valuesOf(parse(text));
  expect([...outlines.keys()].sort()).toEqual(values.map(([pointer]) => pointer).sort());
  for (const [pointer, held] of values.slice(1)) {
    const { value, key } = outlines.get(pointer) as Outline;
    const part = text.slice(value.start, value.end);
    const isTable = typeof held === 'object' && !(held instanceof Date);
    if (!isTable) expect(parse(`v = ${part}`).v).toEqual(held);
    else if (isHeading(part, held))
      expect(Object.keys(parse(part.startsWith('[') ? part : `${part} = 1`))).toHaveLength(1);
    if (key === undefined) continue;
    const name = Object.keys(parse(`${text.slice(key.start, key.end)} = 1`))[0] ?? '';
    expect(pointer.split('/').at(-1)).toBe(escapeSegment(name));
  }
};

const keyText = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,6}$/),
  fc.string({ maxLength: 5 }),
  fc.constantFrom('', 'a.b', '"', "'", '~/', '#', '=', 'é', '😀', '[x]', '\\'),
);

const writeKey = (key: string, isPlain: boolean): string => {
  if (isPlain && /^[A-Za-z0-9_-]+$/.test(key)) return key;
  if (isPlain && /^[ -&(-~]*$/.test(key)) return `'${key}'`;
  return JSON.stringify(key).replaceAll('\u007f', '\\u007f');
};

const scalar = fc.oneof(
  fc.integer().map((number) => [String(number)]),
  fc.boolean().map((flag) => [String(flag)]),
  fc.constantFrom(['1979-05-27'], ['1.5e3'], ["'''a\n'b''c\n#'''"], ['"""\n\\"" [x]\\\n   y"""""']),
  fc.string().map((text) => [JSON.stringify(text).replaceAll('\u007f', '\\u007f')]),
  fc.stringMatching(/^[ -&(-~]*$/).map((text) => [`'${text}'`]),
);

const isSafeKey = (key: string): boolean => key !== '__proto__' && key.isWellFormed();

type Tree = { kind: 'scalar'; text: string } | { kind: 'list'; items: Tree[] } | Table;
type Table = { kind: 'table'; parts: [key: string, part: Tree][]; style: number; isPlain: boolean };

const { table: anyTable } = fc.letrec<{ tree: Tree; table: Table }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar.map(([text = '']) => ({ kind: 'scalar' as const, text })),
    fc.array(tie('tree'), { maxLength: 3 }).map((items) => ({ kind: 'list' as const, items })),
    tie('table'),
  ),
  table: fc.record({
    kind: fc.constant('table' as const),
    parts: fc.uniqueArray(fc.tuple(keyText.filter(isSafeKey), tie('tree')), {
      selector: ([key]) => key,
      maxLength: 4,
    }),
    style: fc.nat(3),
    isPlain: fc.boolean(),
  }),
}));

const writeInline = (tree: Tree): string => {
  if (tree.kind === 'scalar') return tree.text;
  if (tree.kind === 'list')
    return `[ ${tree.items.map((item) => `${writeInline(item)} # ]\n`).join(', ')}]`;
  const pairs = tree.parts.map(
    ([key, part]) => `${writeKey(key, tree.isPlain)} = ${writeInline(part)}`,
  );
  return `{${pairs.join(' , ')}}`;
};

/** Writes a table with headers, with dotted keys, or inline, according to its style. */
const writeTable = ({ parts, isPlain }: Table, header: string): string[] => {
  const pairs: string[] = [];
  const tables: string[] = [];
  for (const [key, part] of parts) {
    const name = writeKey(key, isPlain);
    const path = header === '' ? name : `${header} . ${name}`;
    if (part.kind === 'table' && part.style === 0)
      tables.push(`[${path}]`, ...writeTable(part, path));
    else if (part.kind === 'table' && part.style === 1 && part.parts.length > 0) {
      for (const [inner, value] of part.parts) {
        pairs.push(`\t${name}.${writeKey(inner, isPlain)}=${writeInline(value)}`);
      }
    } else if (
      part.kind === 'list' &&
      part.items.length > 0 &&
      part.items.every((item) => item.kind === 'table')
    ) {
      for (const item of part.items) {
        tables.push(
          `[[ ${path} ]] # item`,
          ...(item.kind === 'table' ? writeTable(item, path) : []),
        );
      }
    } else pairs.push(`${name} = ${writeInline(part)} # [c]`);
  }
  return [...pairs, '', ...tables];
};
describe('outlineToml', () => {
  const text = `# a comment
top = 1 # with [brackets] = "x"
[a]
b.c = 1
"d e" = { f = 2, g.h = ["x", { i = 3 }] }

[[ops]]
name = "x"
  [ops.api]
  filter = {}
[[ops]]
name = 'y'
[ops.api]
[ops.api.match]
q = [
  "z", # not ]
  """
[no] = header
""",
]
[[ops.list]]
[a.'g'.h]
when = 1979-05-27 07:32:00Z # a date
"q\\u0061" = ''''''
`;

  it('finds tables, lists of tables, keys and values', () => {
    const places = {
      '/top': '2:7',
      '/top!': '2:1',
      '/a': '3:1',
      '/a!': '3:2',
      '/a/b': '4:1',
      '/a/b/c': '4:7',
      '/a/b/c!': '4:3',
      '/a/d e/f': '5:15',
      '/a/d e/g/h/1/i!': '5:32',
      '/ops!': '7:3',
      '/ops/0': '7:1',
      '/ops/0/name': '8:8',
      '/ops/0/api!': '9:8',
      '/ops/0/api/filter': '10:12',
      '/ops/1': '11:1',
      '/ops/1/api/match': '14:1',
      '/ops/1/api/match/q': '15:1',
      '/ops/1/api/match/q/0': '16:3',
      '/ops/1/api/match/q/1': '17:3',
      '/ops/1/list/0': '21:1',
      '/a/g': '22:4',
      '/a/g/h/when': '23:8',
      '/a/g/h/qa': '24:13',
    };
    expect(inToml(text, ...Object.keys(places))).toEqual(Object.values(places));
    expect(inToml(text.replaceAll('\n', '\r\n'), ...Object.keys(places))).toEqual(
      Object.values(places),
    );
  });

  it('locates a missing key at its table, or at no position if there is no table', () => {
    expect(inToml(text, '/ops/1/api/match/x', '/ops/1/path', '/none')).toEqual([
      '14:1',
      '11:1',
      undefined,
    ]);
  });

  it('locates a table at its own header, wherever its parts are', () => {
    expect(inToml('[a.b]\nx = 1\n[a]\ny = 2\n', '/a', '/a/b', '/a/b/x')).toEqual([
      '3:1',
      '1:1',
      '2:5',
    ]);
  });

  it.each([
    ['strings', `a = """"x""""" \nb = '''''y''''' # c\nc = ""\nd = "\\"#\\\\"\ne = '\\'\n`],
    ['keys', `a . "b.c" . 'd' = 1\n1.2 = 3\n"" = 4\n'"' = 5\n"\\U0001F600" = 6\n`],
    ['lists', 'a = [ # c\n [1, 2,], # ]\n [ ], {x = [3]},\n]\nb=[]\n'],
    ['inline tables', 'a={}\nb = { c = {d = 1}, "e"=2, f.g = 3, f.h = 4 }\n'],
    ['headers', '[ a . "b" ]\n[a.c]\nx=1\n[[ d ]]\n[[d.e]]\n[d.e.f]\n[[d.e]]\ny=1\n[[d]]\nz=1'],
    ['scalars', 'a = 1979-05-27 07:32:00\nb=-inf\nc = 0xff\nd = 1_000.5e-3 # x\ne = true'],
    ['nothing', '# only a comment'],
  ])('outlines %s', (_what, text) => {
    expectOutlined(text);
    expectOutlined(text.replaceAll('\n', '\r\n'));
  });

  it.each([
    ['a long text', `long = "${'x'.repeat(1_000_000)}"`],
    ['a long list', `long = [${'0,'.repeat(500_000)}]`],
    ['many tables', '[[long]]\n'.repeat(100_000)],
  ])('finds the value after %s', (_what, long) => {
    const lines = long.split('\n').length;
    expect(inToml(`${long}\n[after]\nkey = 1\n`, '/after/key')).toEqual([`${lines + 2}:7`]);
  });

  it('outlines every value of any document, however it is written', () => {
    fc.assert(
      fc.property(anyTable, fc.constantFrom('\n', '\r\n'), (table, lineEnd) => {
        expectOutlined(writeTable(table, '').join('\n').replaceAll('\n', lineEnd));
      }),
      { numRuns: 400 },
    );
  });
});
