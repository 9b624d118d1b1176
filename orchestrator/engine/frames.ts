/**
 * Decodes the frames in which Docker sends a container's output: a header of eight bytes (stream, three zeros, length
 * in big-endian order), then the bytes.
 */
const headerBytes = 8;

/** Returns the text of all frames in order, standard output and error alike; a truncated last frame is kept. */
export const readFrames = (bytes: Buffer): string => {
  const parts: Buffer[] = [];
  for (let at = 0; at + headerBytes <= bytes.length; ) {
    const end = at + headerBytes + bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + headerBytes, end));
    at = end;
  }
  return Buffer.concat(parts).toString('utf8');
};
