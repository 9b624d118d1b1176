import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rewriteJson } from './json-text.ts';

const text = `{
  "$comment": "Kept.",

  "b":   1.0,
  "list": ["one", "two"],
  "shapes": {
    "Id": { "type": "integer" , "minimum": 1 },
    "x-note": [1,2]
  }
}
`;

const changed = (from: string, change: (value: ReturnType<typeof JSON.parse>) => void): string => {
  const value = JSON.parse(from);
  change(value);
  return rewriteJson(from, value);
};

describe('rewriteJson', () => {
  it('does not change a text that already has the value', () => {
    expect(changed(text, () => undefined)).toBe(text);
  });

  it('adds a key after the key that precedes it in the value, laid out like its neighbours', () => {
    const result = changed(text, (value) => {
      value.shapes = { Id: value.shapes.Id, Name: { type: 'string' }, 'x-note': [1, 2] };
      value.last = true;
    });
    expect(result).toBe(`{
  "$comment": "Kept.",

  "b":   1.0,
  "list": ["one", "two"],
  "shapes": {
    "Id": { "type": "integer" , "minimum": 1 },
    "Name": { "type": "string" },
    "x-note": [1,2]
  },
  "last": true
}
`);
  });

  it('adds and removes members of objects and lists on one line', () => {
    const result = changed(text, (value) => {
      value.list.push('three');
      value.shapes.Id = { type: ['integer', 'null'] };
    });
    expect(result).toContain('"list": ["one", "two", "three"]');
    expect(result).toContain('"Id": { "type": ["integer", "null"] }');
    expect(changed('{"a": ["x"]}', (value) => value.a.push('y'))).toBe('{"a": ["x", "y"]}');
    expect(changed('{"a":["x"]}', (value) => value.a.push('y'))).toBe('{"a":["x","y"]}');
  });

  it('breaks a line that would become too long', () => {
    const names = Array.from({ length: 12 }, (_, index) => `field_${index}`);
    const result = changed(text, (value) => value.list.push(...names));
    expect(result).toContain('  "list": [\n    "one",\n    "two",\n    "field_0",\n    "field_1",');
    expect(result).toContain('    "field_11"\n  ],\n  "shapes"');
  });

  it('removes the first, the last and all members', () => {
    const from = '{\n\t"a": 1,\n\t"b": 2,\n\t"c": 3\n}';
    const without = (...keys: string[]): string =>
      changed(from, (value) => {
        for (const key of keys) delete value[key];
      });
    expect(without('a')).toBe('{\n\t"b": 2,\n\t"c": 3\n}');
    expect(without('c')).toBe('{\n\t"a": 1,\n\t"b": 2\n}');
    expect(without('b')).toBe('{\n\t"a": 1,\n\t"c": 3\n}');
    expect(without('a', 'b', 'c')).toBe('{}');
  });

  it("keeps the text's line ends and tabs, and its style of one value per line", () => {
    const from = '{\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}\r\n';
    const result = changed(from, (value) => {
      value.a.push(2);
      value.b = { c: [], d: [1] };
    });
    expect(result).toBe(
      '{\r\n\t"a": [\r\n\t\t1,\r\n\t\t2\r\n\t],\r\n\t"b": {\r\n\t\t"c": [],\r\n\t\t"d": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n',
    );
  });

  it('changes values inside the items of a list', () => {
    const from = '[\n  { "a": 1, "x-k": 1.50 },\n  { "a": 2 }\n]';
    const result = changed(from, (value) => {
      value[0].a = 5;
    });
    expect(result).toBe('[\n  { "a": 5, "x-k": 1.50 },\n  { "a": 2 }\n]');
  });

  it('returns a text with the new value for any old text, and returns the old text again when the change is undone', () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const spaces = fc.constantFrom(undefined, 1, 2, '\t');
    fc.assert(
      fc.property(json, json, spaces, (before, after, space) => {
        const old = JSON.stringify(before, null, space);
        const rewritten = rewriteJson(old, after);
        expect(JSON.parse(rewritten)).toEqual(JSON.parse(JSON.stringify(after)));
        expect(rewriteJson(old, JSON.parse(old))).toBe(old);
      }),
      { numRuns: 500 },
    );
  });
});
