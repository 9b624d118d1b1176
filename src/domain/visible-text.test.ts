import { expect, it } from 'vitest';
import { makeLinesVisible, makeVisible } from './visible-text.ts';

/** All code points that control a terminal, are invisible, or change the direction of text. */
const hidden = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index),
  ...[0xad, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e],
  ...[0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0xfeff, 0xfff9, 0xfffb, 0xe0001, 0xe0041, 0xe007f],
].map((code) => String.fromCodePoint(code));

it('hidden characters are escaped so that JSON keeps its value', () => {
  for (const character of hidden) {
    const visible = makeVisible(`a${character}b`);
    expect(visible).toMatch(/^a(?:\\u[0-9a-f]{4})+b$/);
    expect(JSON.parse(`"${visible}"`)).toBe(`a${character}b`);
    const isLayout = ['\n', '\t'].includes(character);
    expect(makeLinesVisible(`a${character}b`)).toBe(isLayout ? `a${character}b` : visible);
  }
});

it('a text without hidden characters is not changed', () => {
  for (const text of ['Grüße', '日本語', '🙂', 'שלום', '—…·⠋', '{"a": [1]}', 'e\u0301', '❤️']) {
    expect([makeVisible(text), makeLinesVisible(text)]).toEqual([text, text]);
  }
});
