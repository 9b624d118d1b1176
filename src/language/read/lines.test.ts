import { describe, expect, it } from 'vitest';
import { scanJson } from './json-lines.ts';
import { scanToml } from './toml-lines.ts';

const lineNumbers = (lines: ReadonlyMap<string, number>) => Object.fromEntries(lines);

describe('scanJson', () => {
  it('finds keys, items and nested values', () => {
    const text = `{
  "a": [1,
    { "b/c": "x, {y}: [\\"]" }],
  "d~": {}
}`;
    expect(lineNumbers(scanJson(text).lines)).toEqual({
      '': 1,
      '/a': 2,
      '/a/0': 2,
      '/a/1': 3,
      '/a/1/b~1c': 3,
      '/d~0': 4,
    });
  });

  it('finds keys that repeat one of the same object', () => {
    expect(scanJson('{"a":{"a":1},"b":[{"x":1},{"x":2}],"a":2}').duplicates).toEqual(['/a']);
    expect(scanJson('{"a":1,"\\u0061":2}').duplicates).toEqual(['/a']);
  });

  it('reads long texts', () => {
    const text = JSON.stringify({ a: 'x"\\'.repeat(200_000), b: 1 });
    expect(scanJson(text).lines.get('/b')).toBe(1);
  });
});

describe('scanToml', () => {
  it('finds tables, lists of tables and keys', () => {
    const text = `top = 1
[a]
b.c = 1
"d e" = { f = 2 }

[[ops]]
name = "x"
  [ops.api]
  filter = {}
[[ops]]
name = "y"
[ops.api]
[ops.api.match]
q = [
  "z",
]
[[ops.list]]
[a.'g']
`;
    expect(lineNumbers(scanToml(text))).toEqual({
      '': 1,
      '/top': 1,
      '/a': 2,
      '/a/b/c': 3,
      '/a/d e': 4,
      '/ops': 6,
      '/ops/0': 6,
      '/ops/0/name': 7,
      '/ops/0/api': 8,
      '/ops/0/api/filter': 9,
      '/ops/1': 10,
      '/ops/1/name': 11,
      '/ops/1/api': 12,
      '/ops/1/api/match': 13,
      '/ops/1/api/match/q': 14,
      '/ops/1/list': 17,
      '/ops/1/list/0': 17,
      '/a/g': 18,
    });
  });

  it('skips texts over several lines', () => {
    const text = 'a = """\nb = 1\n[c]\n"""\nd = 1\ne = """x"""\nf = 1\n';
    expect([...scanToml(text).keys()]).toEqual(['', '/a', '/d', '/e', '/f']);
  });
});
