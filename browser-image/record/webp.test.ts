import { expect, it } from 'vitest';
import { keyFrameOf } from './webp.ts';

const chunk = (name: string, bytes: number[]): Buffer => {
  const head = Buffer.alloc(8, name);
  head.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([head, Buffer.from(bytes), Buffer.alloc(bytes.length % 2)]);
};

const webp = (...chunks: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), ...chunks]);

it('an image chunk is found by itself and after other chunks, padded or not', () => {
  expect([...keyFrameOf(webp(chunk('VP8 ', [1, 2, 3])))]).toEqual([1, 2, 3]);
  const after = webp(chunk('VP8X', [0]), chunk('ICCP', [9, 9, 9]), chunk('VP8 ', [4]));
  expect([...keyFrameOf(after)]).toEqual([4]);
});

it.each([
  ['is none', Buffer.from('GIF89a and more')],
  ['is empty', Buffer.alloc(0)],
  ['is lossless', webp(chunk('VP8L', [1]))],
  ['is broken off', webp(chunk('VP8 ', [1, 2, 3, 4])).subarray(0, 22)],
])('no image chunk is found in a file that %s', (_, bytes) => {
  expect(() => keyFrameOf(bytes)).toThrow(/WebP/);
});
