/**
 * Splits a byte stream into lines, and never buffers more than the maximum length of one line. The host and the
 * TypeScript worker both use this file. Only `\n` ends a line, because JSON may contain every other kind of line end.
 */

export type LineReader = (chunk: Buffer) => void;

export type LineReaderOptions = {
  maxBytes: number;
  onLine(line: string): void;
  /** Called when the current line exceeds the limit. The rest of the stream is ignored. */
  onTooLong?(): void;
};

const newline = 0x0a;

export const createLineReader = ({
  maxBytes,
  onLine,
  onTooLong,
}: LineReaderOptions): LineReader => {
  let parts: Buffer[] = [];
  let bufferedBytes = 0;
  let broken = false;

  const hold = (part: Buffer): void => {
    parts.push(part);
    bufferedBytes += part.length;
    if (bufferedBytes <= maxBytes) return;
    broken = true;
    parts = [];
    onTooLong?.();
  };

  return (chunk) => {
    let from = 0;
    while (!broken) {
      const end = chunk.indexOf(newline, from);
      hold(chunk.subarray(from, end === -1 ? chunk.length : end));
      if (end === -1 || broken) return;
      const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      bufferedBytes = 0;
      from = end + 1;
      onLine(line?.toString('utf8') ?? '');
    }
  };
};
