import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chunksOf,
  JsonText,
  jsonList,
  jsonWith,
  numberJson,
  quoted,
  quotedOrNull,
  writeJson,
} from './json-text.ts';

describe('the chunks of an answer', () => {
  it('are few even if its pieces are small and many', () => {
    const pieces = Array.from({ length: 20_000 }, (_, index) => `${index},`);
    const chunks = [...chunksOf(pieces)];
    expect(Buffer.concat(chunks).toString()).toBe(pieces.join(''));
    expect(chunks).toHaveLength(2);
  });

  it.each([0, 1, 2])(
    'form its text when joined, even if a chunk ends inside a character (%i)',
    (shift) => {
      const large = `${'a'.repeat(shift)}${'\u{1f600}é'.repeat(200_000)}`;
      const pieces = ['start', large, '', 'end', large];
      const chunks = [...chunksOf(pieces)];
      expect(Buffer.concat(chunks).toString()).toBe(pieces.join(''));
      for (const chunk of chunks) expect(chunk.toString()).not.toContain('\ufffd');
    },
  );

  it('are built one by one, so that a large text is never in memory twice', () => {
    const [first] = chunksOf(['\u20ac'.repeat(8_000_000)]);
    expect(first?.buffer.byteLength).toBeLessThanOrEqual(256 * 1024);
  });
});

describe('a JSON text with further members', () => {
  it('is written as one object, and may contain lists, texts and other such objects', () => {
    const inner = jsonWith('{"a":1}', { free: new JsonText('[1]') });
    const outer = jsonWith('{"b":"}"}', { list: jsonList(['2', '3']), inner, plain: '"' });
    const written = writeJson({ before: new JsonText('[0]'), all: [outer, outer], after: 1 });
    const object = { b: '}', list: [2, 3], inner: { a: 1, free: [1] }, plain: '"' };
    expect(JSON.parse(written.join(''))).toEqual({ before: [0], all: [object, object], after: 1 });
    expect(writeJson(jsonWith('{"a":1}', { b: undefined })).join('')).toBe('{"a":1}');
  });
});

describe('a text or a number as JSON', () => {
  it('is written like JSON.stringify writes a string', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom('\ud800', '\x7f', '"', '\\'),
    );
    fc.assert(
      fc.property(text, (text) => {
        expect(quoted(text)).toBe(JSON.stringify(text));
      }),
    );
    expect([quotedOrNull(null), quotedOrNull('"')]).toEqual(['null', '"\\""']);
  });

  it('is written like JSON.stringify writes a number', () => {
    fc.assert(
      fc.property(fc.double(), (number) => {
        expect(numberJson(number)).toBe(JSON.stringify(number));
      }),
    );
    expect(numberJson(null)).toBe('null');
  });
});

describe('a list of JSON texts', () => {
  it.each([[[]], [['1']], [['{"a":1}', '"b"', 'null']]])(
    'is written as the list of its entries: %j',
    (texts) => {
      const value = { before: new JsonText('[0]'), list: jsonList(texts), after: 'x' };
      const entries = texts.map((text) => JSON.parse(text));
      expect(JSON.parse(writeJson(value).join(''))).toEqual({
        before: [0],
        list: entries,
        after: 'x',
      });
    },
  );
});
