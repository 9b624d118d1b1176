import { describe, expect, it } from 'vitest';
import { chunksOf } from './json-text.ts';

describe('the chunks of an answer', () => {
  it.each([0, 1, 2])('are its text, whichever characters they meet between (%i)', (shift) => {
    const pieces = [`${'a'.repeat(shift)}${'\u{1f600}é'.repeat(200_000)}`, '', 'end'];
    const chunks = [...chunksOf(pieces)];
    expect(Buffer.concat(chunks).toString()).toBe(pieces.join(''));
    for (const chunk of chunks) expect(chunk.toString()).not.toContain('\ufffd');
  });

  it('are made one by one: a large text is never there twice', () => {
    const [first] = chunksOf(['\u20ac'.repeat(8_000_000)]);
    expect(first?.buffer.byteLength).toBeLessThanOrEqual(256 * 1024);
  });
});
