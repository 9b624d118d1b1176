/** Extracts the picture from a lossy WebP (RFC 9649): the container is a list of chunks, one of which is VP8. */

const chunksAt = 12;
const chunkHead = 8;

const nameAt = (bytes: Uint8Array, at: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + 4));

/** Returns a copy of the VP8 key frame. Throws if there is none. */
export const keyFrameOf = (webp: Uint8Array): Uint8Array => {
  const view = new DataView(webp.buffer, webp.byteOffset, webp.byteLength);
  if (nameAt(webp, 0) !== 'RIFF' || nameAt(webp, 8) !== 'WEBP')
    throw new Error('the picture is not WebP');
  for (let at = chunksAt; at + chunkHead <= webp.byteLength; ) {
    const size = view.getUint32(at + 4, true);
    const end = at + chunkHead + size;
    if (end > webp.byteLength) break;
    if (nameAt(webp, at) === 'VP8 ') return webp.slice(at + chunkHead, end);
    at = end + (size % 2);
  }
  throw new Error('the WebP has no lossy picture');
};
