/**
 * How large what zstd packed is unpacked, where the beginning of it says so (RFC 8878, "Frame_Header"). It is
 * what the packer says; whoever unpacks has a bound of its own.
 */

/** Bytes of a header at most. */
export const frameHeaderBytes = 18;

const magic = 0xfd2fb528;
const dictionaryIdBytes = [0, 1, 2, 4];

/** Undefined where it is not told, or no frame begins here. */
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
