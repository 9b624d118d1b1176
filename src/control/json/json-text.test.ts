import { describe, expect, it } from 'vitest';
import { chunksOf, createJsonEntries, JsonText, jsonList, writeJson } from './json-text.ts';

describe('the chunks of an answer', () => {
  it('are few where its pieces are small', () => {
    const pieces = Array.from({ length: 20_000 }, (_, index) => `${index},`);
    const chunks = [...chunksOf(pieces)];
    expect(Buffer.concat(chunks).toString()).toBe(pieces.join(''));
    expect(chunks).toHaveLength(2);
  });

  it.each([0, 1, 2])('are its text, whichever characters they meet between (%i)', (shift) => {
    const large = `${'a'.repeat(shift)}${'\u{1f600}é'.repeat(200_000)}`;
    const pieces = ['start', large, '', 'end', large];
    const chunks = [...chunksOf(pieces)];
    expect(Buffer.concat(chunks).toString()).toBe(pieces.join(''));
    for (const chunk of chunks) expect(chunk.toString()).not.toContain('\ufffd');
  });

  it('are made one by one: a large text is never there twice', () => {
    const [first] = chunksOf(['\u20ac'.repeat(8_000_000)]);
    expect(first?.buffer.byteLength).toBeLessThanOrEqual(256 * 1024);
  });
});

describe('entries that are written as they come', () => {
  it.each([0, 1, 99, 100, 101, 250])('are a list of all of them, in their order: %i', (count) => {
    const given = Array.from({ length: count }, (_, index) => ({ index, text: '},{"[' }));
    const entries = createJsonEntries<object>();
    for (const entry of given) entries.add({ ...entry, free: new JsonText('[1]') });
    const written = writeJson({ list: entries.list(), after: 1 }).join('');
    expect(JSON.parse(written)).toEqual({
      list: given.map((entry) => ({ ...entry, free: [1] })),
      after: 1,
    });
  });
});

describe('a list of JSON texts', () => {
  it.each([[[]], [['1']], [['{"a":1}', '"b"', 'null']]])(
    'is written as its entries: %j',
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
