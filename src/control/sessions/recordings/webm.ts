/**
 * Writes WebM around pictures that are stored in parts. Each part is a cluster. The head is computed at the time of
 * reading from the metadata of the parts. So the file has its length, chapters and index at the start, and is sent
 * without being held in memory. WebM libraries expect to write the whole file; here most of it is already written.
 *
 * Elements are those of RFC 9559 and of https://www.webmproject.org/docs/container/. Times are in milliseconds.
 */

/** One picture: a VP8 key frame, and the time at which it is shown, relative to the start of its part. */
export type Frame = { afterMs: number; data: Uint8Array };

/** Metadata of a part; `bytes` is the size of its blocks in the file. */
export type Part = { startMs: number; bytes: number };

export type Chapter = { startMs: number; title: string };

export type Video = {
  width: number;
  height: number;
  beganAt: Date;
  durationMs: number;
  parts: readonly Part[];
  chapters: readonly Chapter[];
};

/** Returns the encoded id of an element. */
const idBytes = (id: number): Buffer => {
  const text = id.toString(16);
  return Buffer.from(text.length % 2 === 0 ? text : `0${text}`, 'hex');
};

const sizeLength = 8;

/** Returns the encoded size. It always takes 8 bytes, so that positions in the file are known before the content. */
const sizeBytes = (size: number): Buffer => {
  const bytes = Buffer.alloc(sizeLength);
  bytes.writeBigUInt64BE(2n ** 56n + BigInt(size));
  return bytes;
};

const element = (id: number, ...content: readonly Uint8Array[]): Buffer => {
  const size = content.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return Buffer.concat([idBytes(id), sizeBytes(size), ...content]);
};

/** Returns the id and size of an element whose content is written separately. */
const begin = (id: number, size: number): Buffer => Buffer.concat([idBytes(id), sizeBytes(size)]);

const unsigned = (id: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(id, bytes);
};

const text = (id: number, value: string): Buffer => element(id, Buffer.from(value));

const float = (id: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return element(id, bytes);
};

const matroskaEpoch = Date.UTC(2001, 0, 1);

const date = (id: number, value: Date): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value.getTime() - matroskaEpoch) * 1_000_000n);
  return element(id, bytes);
};

const isKeyFrame = 0x80;
const videoTrack = 1;
const program = 'svc';

const block = ({ afterMs, data }: Frame): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt8(0x80 | videoTrack, 0);
  head.writeInt16BE(afterMs, 1);
  head.writeUInt8(isKeyFrame, 3);
  return element(0xa3, head, data);
};

/**
 * Returns the blocks of a part, as they are stored. They contain the text `of`, which differs for each part, in an
 * element that players skip. So no two parts have the same bytes, and no two parts share a blob.
 */
export const blocksOf = (frames: readonly Frame[], of: string): Buffer =>
  Buffer.concat([text(0xec, of), ...frames.map(block)]);

const timestampLength = unsigned(0xe7, 0).byteLength;

/** Returns the bytes that precede the blocks of a part. */
export const clusterHead = ({ startMs, bytes }: Part): Buffer =>
  Buffer.concat([begin(0x1f43b675, timestampLength + bytes), unsigned(0xe7, startMs)]);

const clusterBytes = (part: Part): number => clusterHead(part).byteLength + part.bytes;

const info = ({ beganAt, durationMs }: Video): Buffer =>
  element(
    0x1549a966,
    unsigned(0x2ad7b1, 1_000_000), // nanoseconds per time unit
    float(0x4489, durationMs),
    date(0x4461, beganAt),
    text(0x4d80, program),
    text(0x5741, program),
  );

const tracks = ({ width, height }: Video): Buffer =>
  element(
    0x1654ae6b,
    element(
      0xae,
      unsigned(0xd7, videoTrack),
      unsigned(0x73c5, videoTrack),
      unsigned(0x83, 1), // video
      unsigned(0x9c, 0), // no lacing
      text(0x86, 'V_VP8'),
      element(0xe0, unsigned(0xb0, width), unsigned(0xba, height)),
    ),
  );

const chapter = ({ startMs, title }: Chapter, index: number): Buffer =>
  element(
    0xb6,
    unsigned(0x73c4, index + 1),
    unsigned(0x91, startMs * 1_000_000),
    element(0x80, text(0x85, title), text(0x437c, 'eng')),
  );

const chaptersOf = ({ chapters }: Video): Buffer =>
  chapters.length === 0
    ? Buffer.alloc(0)
    : element(0x1043a770, element(0x45b9, ...chapters.map(chapter)));

/** Returns the index of the parts. `firstAt` is the offset of the first part within the segment. */
const cues = ({ parts }: Video, firstAt: number): Buffer => {
  let at = firstAt;
  const points = parts.map((part) => {
    const place = element(0xb7, unsigned(0xf7, videoTrack), unsigned(0xf1, at));
    at += clusterBytes(part);
    return element(0xbb, unsigned(0xb3, part.startMs), place);
  });
  return element(0x1c53bb6b, ...points);
};

const fileHead = element(
  0x1a45dfa3,
  unsigned(0x4286, 1),
  unsigned(0x42f7, 1),
  unsigned(0x42f2, 4),
  unsigned(0x42f3, 8),
  text(0x4282, 'webm'),
  unsigned(0x4287, 4),
  unsigned(0x4285, 2),
);

/**
 * Returns the head of the file and the file's total size. In the file, the head is followed by the cluster head and the
 * blocks of each part.
 */
export const videoHeader = (video: Video): { head: Buffer; totalBytes: number } => {
  const before = Buffer.concat([info(video), tracks(video), chaptersOf(video)]);
  const cuesBytes = cues(video, 0).byteLength;
  const body = video.parts.reduce((sum, part) => sum + clusterBytes(part), 0);
  const size = before.byteLength + cuesBytes + body;
  const index = cues(video, before.byteLength + cuesBytes);
  const head = Buffer.concat([fileHead, begin(0x18538067, size), before, index]);
  return { head, totalBytes: head.byteLength + body };
};

/** Returns true if the bytes are a VP8 key frame of this size (RFC 6386, section 9.1). */
export const isKeyFrameOf = (
  data: Uint8Array,
  size: { width: number; height: number },
): boolean => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.byteLength <= 10 || (view.getUint8(0) & 1) !== 0) return false;
  if (view.getUint8(3) !== 0x9d || view.getUint16(4) !== 0x012a) return false;
  const width = view.getUint16(6, true) & 0x3fff;
  return width === size.width && (view.getUint16(8, true) & 0x3fff) === size.height;
};
