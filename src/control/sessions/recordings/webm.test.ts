import { describe, expect, it } from 'vitest';
import { blocksOf, clusterHead, isKeyFrameOf, type Part, type Video, videoHeader } from './webm.ts';

const size = { width: 1_280, height: 800 };

/** Builds the header of a VP8 key frame, followed by a few bytes. */
const keyFrame = ({ width, height } = size): Uint8Array => {
  const bytes = Buffer.alloc(12);
  bytes.set([0x10, 0, 0, 0x9d, 0x01, 0x2a]);
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
};

type Element = { id: number; at: number; content: Buffer };

/** Parses EBML elements as a player would. */
const readElements = (bytes: Buffer): Element[] => {
  const found: Element[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const idLength = Math.clz32(bytes.readUInt8(at)) - 23;
    const id = bytes.readUIntBE(at, idLength);
    const sizeBytes = Number(bytes.readBigUInt64BE(at + idLength) - 2n ** 56n);
    const begin = at + idLength + 8;
    expect(begin + sizeBytes).toBeLessThanOrEqual(bytes.byteLength);
    found.push({ id, at, content: bytes.subarray(begin, begin + sizeBytes) });
    at = begin + sizeBytes;
  }
  return found;
};

const inside = (elements: Element[], id: number): Element[] =>
  readElements(elements.find((one) => one.id === id)?.content ?? Buffer.alloc(0));

const numberOf = (elements: Element[], id: number): number =>
  Number(elements.find((one) => one.id === id)?.content.readBigUInt64BE());

const write = (video: Video, blocks: Buffer[]): Buffer => {
  const { head } = videoHeader(video);
  const parts = video.parts.flatMap((part, at) => [clusterHead(part), blocks[at] as Buffer]);
  return Buffer.concat([head, ...parts]);
};

const frames = [
  { afterMs: 0, data: keyFrame() },
  { afterMs: 300, data: keyFrame() },
];
const blocks = [blocksOf(frames, 'ses-a 0'), blocksOf(frames, 'ses-a 1')];
const parts: Part[] = blocks.map(({ byteLength: bytes }, at) => ({ startMs: at * 7_000, bytes }));
const video: Video = {
  ...size,
  beganAt: new Date('2026-03-01T00:00:00Z'),
  durationMs: 8_300,
  parts,
  chapters: [{ startMs: 7_000, title: 'Reset' }],
};

describe('a recording', () => {
  it('has exactly the length that its header gives', () => {
    expect(write(video, blocks).byteLength).toBe(videoHeader(video).totalBytes);
    const none = { ...video, parts: [], chapters: [] };
    expect(write(none, []).byteLength).toBe(videoHeader(none).totalBytes);
  });

  it('has an index with the position of each part', () => {
    const segment = readElements(write(video, blocks)).find(({ id }) => id === 0x18538067);
    const elements = readElements(segment?.content ?? Buffer.alloc(0));
    const clusters = elements.filter(({ id }) => id === 0x1f43b675);
    const points = inside(elements, 0x1c53bb6b).map(({ content }) => {
      const point = readElements(content);
      return { ms: numberOf(point, 0xb3), at: numberOf(inside(point, 0xb7), 0xf1) };
    });
    const found = clusters.map(({ at, content }) => ({
      ms: numberOf(readElements(content), 0xe7),
      at,
    }));
    expect(points).toEqual(found);
    expect(found.map(({ ms }) => ms)).toEqual([0, 7_000]);
  });

  it('stores each frame with its time, as a key frame', () => {
    const [, first, second] = readElements(blocks[0] as Buffer);
    expect(first?.content.subarray(4)).toEqual(Buffer.from(keyFrame()));
    expect(second?.content.subarray(0, 4)).toEqual(Buffer.from([0x81, 1, 44, 0x80]));
  });

  it('has different parts for different sessions, so that removing one recording keeps the other', () => {
    expect(blocks[0]).not.toEqual(blocks[1]);
  });
});

describe('a frame', () => {
  it.each([
    ['another size', keyFrame({ width: 640, height: 800 })],
    ['nothing', new Uint8Array()],
    ['a text', Buffer.from('<script>alert(1)</script>')],
    ['a frame that needs another', Buffer.from([0x11, ...keyFrame().slice(1)])],
    ['a head and no more', keyFrame().slice(0, 10)],
  ])('is refused when it is %s', (_, bytes) => {
    expect(isKeyFrameOf(bytes, size)).toBe(false);
  });

  it('is accepted if it is a key frame of the expected size', () => {
    expect(isKeyFrameOf(keyFrame(), size)).toBe(true);
  });
});
