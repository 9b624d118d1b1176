/**
 * Unpacks LZ4 blocks, for which Node.js has no function. Parquet has them bare (`LZ4_RAW`), and in an older form
 * (`LZ4`) with Hadoop's frames: before each block are its unpacked and its packed length, in four bytes each.
 */

const broken = (): Error => new Error('an LZ4 block is invalid');

/** Unpacks one block into `out`, from index `at` on; returns the index after the block's last unpacked byte. */
const unpackBlock = (bytes: Uint8Array, out: Uint8Array, at: number): number => {
  let from = 0;
  let to = at;
  const readLength = (nibble: number): number => {
    let length = nibble;
    if (nibble < 15) return length;
    for (;;) {
      const next = bytes[from];
      if (next === undefined) throw broken();
      from += 1;
      length += next;
      if (next < 255) return length;
    }
  };
  while (from < bytes.length) {
    const token = bytes[from] as number;
    from += 1;
    const literals = readLength(token >> 4);
    if (from + literals > bytes.length || to + literals > out.length) throw broken();
    out.set(bytes.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from === bytes.length) return to;
    const distance = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8);
    from += 2;
    const matched = readLength(token & 15) + 4;
    if (distance === 0 || distance > to - at || to + matched > out.length) throw broken();
    // A match may overlap its own output, so it is copied byte by byte.
    for (let i = 0; i < matched; i += 1, to += 1) out[to] = out[to - distance] as number;
  }
  return to;
};

/** Unpacks a bare block of a known length. */
export const unpackLz4Raw = (bytes: Uint8Array, length: number): Uint8Array => {
  const out = new Uint8Array(length);
  if (unpackBlock(bytes, out, 0) !== length) throw broken();
  return out;
};

const frameBytes = 8;

/** Unpacks blocks with Hadoop's frames; returns undefined when the bytes have none. */
const unpackFrames = (bytes: Uint8Array, length: number): Uint8Array | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Uint8Array(length);
  let from = 0;
  let to = 0;
  while (from + frameBytes <= bytes.length) {
    const unpacked = view.getUint32(from);
    const end = from + frameBytes + view.getUint32(from + 4);
    if (end > bytes.length || to + unpacked > length) return undefined;
    if (unpackBlock(bytes.subarray(from + frameBytes, end), out, to) !== to + unpacked) {
      return undefined;
    }
    from = end;
    to += unpacked;
  }
  return from === bytes.length && to === length ? out : undefined;
};

/** Unpacks the older form (`LZ4`), even if a program wrote it without frames. */
export const unpackLz4 = (bytes: Uint8Array, length: number): Uint8Array =>
  unpackFrames(bytes, length) ?? unpackLz4Raw(bytes, length);
