import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeSegment } from '#domain/json.ts';
import { locateIn, outlinesOf, valuesOf } from '#test/support/worlds/positions.ts';
import { parseJson } from './document.ts';
import { findDuplicateKeys, findUnexpected, findUnsafeNumber, repeatsKeys } from './json-faults.ts';
import { outlineJson } from './json-positions.ts';
import { createProblems } from './place.ts';
import { type Outline, wantedOf } from './positions.ts';

const inJson = locateIn(outlineJson);

describe('outlineJson', () => {
  const text = `{
  "a": [1,
    { "b/c": "x, {y}: [\\"]" }],
  "d~": {}, "é😀": { "z": null
  }
}`;

  it('finds values and keys by line and column', () => {
    expect(inJson(text, '/a/0', '/a/1', '/a/1/b~1c', '/a/1/b~1c!', '/d~0', '/d~0!')).toEqual([
      '2:9',
      '3:5',
      '3:14',
      '3:7',
      '4:9',
      '4:3',
    ]);
  });

  it("locates a value of several lines, and a missing member of the value, at the value's key", () => {
    expect(inJson(text, '/a', '/é😀', '/é😀/y', '/é😀/z', '')).toEqual([
      '2:3',
      '4:13',
      '4:13',
      '4:27',
      '1:1',
    ]);
  });

  it('locates a missing member of the document, or of a value on one line, at the enclosing value', () => {
    expect(inJson(text, '/b', '/a/1/x', '/a/0/x/y')).toEqual([undefined, '3:5', '2:9']);
  });

  it('uses the last of repeated keys, as a parser does', () => {
    expect(inJson('{"a":1,"\\u0061":2}', '/a', '/a!')).toEqual(['1:17', '1:8']);
  });

  it('outlines every value of any document', () => {
    fc.assert(
      fc.property(
        fc.json({ noUnicodeString: false }),
        fc.constantFrom(undefined, 2, '\t'),
        (json, space) => {
          const value = JSON.parse(json);
          const written = JSON.stringify(value, null, space).replaceAll('\n', '\r\n');
          const pointers = valuesOf(value).map(([pointer]) => pointer);
          const outlines = new Map(outlinesOf(outlineJson(written, wantedOf(pointers))));
          for (const [pointer, held] of valuesOf(value)) {
            const { value: span, key } = outlines.get(pointer) as Outline;
            expect(JSON.parse(written.slice(span.start, span.end))).toEqual(held);
            const name =
              key && escapeSegment(JSON.parse(written.slice(key.start, key.end)) as string);
            if (name !== undefined) expect(pointer.endsWith(`/${name}`)).toBe(true);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads long and deep texts', () => {
    const long = JSON.stringify({ a: 'x"\\'.repeat(200_000), b: 1 });
    expect(inJson(long, '/b')).toEqual([`1:${long.length - 1}`]);
    expect(inJson('['.repeat(100_000) + ']'.repeat(100_000), '')).toEqual(['1:1']);
  });

  it('scans a large file of rows once for all its problems', () => {
    const row = { id: 1, name: 'x'.repeat(40), labels: ['a', 'b'], at: { x: 1 } };
    const rows = Array.from({ length: 60_000 }, () => row);
    const large = JSON.stringify(rows, null, 2);
    const pointers = Array.from({ length: 50 }, (_, index) => `/${index * 1_000}/labels/1`);
    expect(inJson(large, ...pointers).at(-1)).toBe('539007:7');
    expect(large.length).toBeGreaterThan(8 * 1024 * 1024);
  });
});

describe('the search for faults in JSON', () => {
  it('finds repeated keys of an object, and no further faults below them', () => {
    const text = '{"a":{"a":1},"b":[{"x":1},{"x":2}],"a":{"a":1}}';
    expect(findDuplicateKeys(text)).toEqual(['/a']);
    expect(findDuplicateKeys('{"a":1,"\\u0061":2}')).toEqual(['/a']);
    expect(repeatsKeys(text, JSON.parse(text))).toBe(true);
    expect(repeatsKeys('[{"a":": "},{"a":1}]', [{ a: ': ' }, { a: 1 }])).toBe(false);
  });

  it('finds a number that loses digits', () => {
    const text = '{"a":"12345678901234567890","b":[9007199254740991,9007199254740993]}';
    expect(findUnsafeNumber(text)).toEqual({ pointer: '/b/1', source: '9007199254740993' });
    expect(findUnsafeNumber('[0.12345678901234567890, 1e10]')).toBeUndefined();
    expect(findUnsafeNumber('[1e999]')).toEqual({ pointer: '/0', source: '1e999' });
  });

  it.each([
    ['lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', `${'{"b":'.repeat(100_000)}12345678901234567890${'}'.repeat(100_000)}`],
  ])('reports bottomless %s, even if a repeated key replaces them', (_what, deep) => {
    const problems = createProblems();
    expect(parseJson(problems, 'x.json', `{"a":${deep},"a":1}`)).toBeUndefined();
    expect(problems.list().map(({ code }) => code)).toEqual(['too_deep']);
  });

  it('finds keys and numbers in every kind of value, by their pointers', () => {
    const text = '{"a/b":[{"~":{"__proto__":1e400,"__proto__":2}}],"\\ud800":[[{"x":1,"x":2}]]}';
    expect(findDuplicateKeys(text)).toEqual(['/a~1b/0/~0/__proto__', '/\ud800/0/0/x']);
    expect(findUnsafeNumber(text)).toEqual({
      pointer: '/a~1b/0/~0/__proto__',
      source: '1e400',
    });
  });

  it.each([
    ['{"a":}', 5],
    ['{"a":tru }', 5],
    ['[1,', 3],
    ['{"a":[}', 6],
    ['[,]', 1],
    ['\n x', 2],
    ['', 0],
    ['{"a":"}",]', 9],
    ["{'a':1}", 1],
  ])('finds the unexpected token in %j', (text, offset) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(findUnexpected(text)).toBe(offset);
  });
});
