/**
 * Reads the unpacked size of zstd data from its frame header, if the header has it (RFC 8878, "Frame_Header"). The
 * packer wrote that size and may be wrong, so unpacking still needs a limit.
 */

/** Maximum length of a header in bytes. */
export const frameHeaderBytes = 18;

const magic = 0xfd2fb528;
const dictionaryIdBytes = [0, 1, 2, 4];

/** Returns the unpacked size in bytes; undefined if the header lacks it, or if the bytes do not begin with a frame. */
export const unpackedBytes = (start: Uint8Array): number | undefined => {
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  if (start.length < 6 || view.getUint32(0, true) !== magic) return undefined;
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const at = 5 + (isSingleSegment ? 0 : 1) + (dictionaryIdBytes[descriptor & 0b11] ?? 0);
  const sizes: (() => number | undefined)[] = [
    () => (isSingleSegment ? view.getUint8(at) : undefined),
    () => view.getUint16(at, true) + 256,
    () => view.getUint32(at, true),
    () => Number(view.getBigUint64(at, true)),
  ];
  const bytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return start.length < at + bytes ? undefined : sizes[descriptor >> 6]?.();
};
