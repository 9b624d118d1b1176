/**
 * Counts the entries of each list in a JSON text by the position of the list, without parsing the text. The text may be
 * incomplete, because the entries may be counted while the text is still being decompressed.
 */

/** Maximum depth at which the entries of lists are counted. */
const mostLevels = 12;

/** Returns the code of a position, given as its open brackets: `{[` is a list in the top-level object. */
export const placeOf = (brackets: string): number =>
  [...brackets].reduce((place, bracket) => place * 2 + (bracket === '[' ? 1 : 0), 1);

const isBlank = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/**
 * Returns the index of the quote that closes the string opened at `start`; the number of bytes if the string is not
 * closed.
 */
const endOfString = (bytes: Uint8Array, start: number): number => {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return bytes.length;
};

const opensEmpty = (bytes: Uint8Array, start: number): boolean => {
  let at = start + 1;
  while (isBlank(bytes[at])) at += 1;
  return at >= bytes.length || bytes[at] === 0x5d;
};

/**
 * Returns the number of entries of lists, indexed by the code of the list's position. Where the position is that of an
 * object, the count has no meaning, because commas are counted.
 */
export const countEntries = (bytes: Uint8Array): Uint32Array => {
  const counts = new Uint32Array(2 ** (mostLevels + 1));
  let place = 1;
  let depth = 0;
  const add = (): void => {
    if (depth <= mostLevels) counts[place] = (counts[place] ?? 0) + 1;
  };
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (code === 0x22) at = endOfString(bytes, at);
    else if (code === 0x2c) add();
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth <= mostLevels) place = place * 2 + (code === 0x5b ? 1 : 0);
      if (code === 0x5b && !opensEmpty(bytes, at)) add();
    } else if (code === 0x5d || code === 0x7d) {
      if (depth <= mostLevels && depth > 0) place >>= 1;
      depth = Math.max(0, depth - 1);
    }
  }
  return counts;
};
