/**
 * Parses one HTTP/1.1 response from the bytes of a connection as they arrive. The usual response, in one piece and
 * with a length, is the cheapest to parse. Ambiguous responses are rejected.
 */

/** A response. `keeps` is true if its connection may be used for another request. */
export type ReadAnswer = { status: number; contentType: string; bytes: Buffer; keeps: boolean };

export type AnswerReader = {
  /**
   * Takes the next bytes; the caller may reuse their buffer afterwards. Returns the response once it is complete.
   * Throws if the bytes are not an HTTP response.
   */
  take(bytes: Buffer): ReadAnswer | undefined;
  /**
   * Handles the end of the connection. Returns the response if the end of the connection completes its body; undefined
   * if the response was cut off.
   */
  end(): ReadAnswer | undefined;
};

/** Delimiter of a body: its length, chunks, or the end of the connection. */
type Framing = { kind: 'length'; bytes: number } | { kind: 'chunks' } | { kind: 'close' };
type Head = { status: number; contentType: string; keeps: boolean; framing: Framing };

/** Takes bytes of a body. Returns how many of them it has used, and whether the body is complete. */
type BodyReader = (bytes: Buffer) => { used: number; isWhole: boolean };

const lineEnd = '\r\n';
const headEnd = '\r\n\r\n';
/** Maximum number of bytes of a response's head, and of a line between chunks. */
const mostBytes = 64 * 1024;

const broken = (what: string): Error =>
  Object.assign(new Error(`the answer cannot be read: ${what}`), { code: 'EPROTO' });

/** Parses headers into a map with lower-case names. Values of repeated headers are joined by commas. */
const readHeaders = (lines: readonly string[]): Map<string, string> => {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw broken('a header has no name');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
};

const framingOf = (status: number, headers: ReadonlyMap<string, string>): Framing => {
  if (status === 204 || status === 304) return { kind: 'length', bytes: 0 };
  const length = headers.get('content-length');
  const coding = headers.get('transfer-encoding');
  if (coding !== undefined) {
    if (length !== undefined || coding.toLowerCase() !== 'chunked') {
      throw broken('the response does not say how long its body is');
    }
    return { kind: 'chunks' };
  }
  if (length === undefined) return { kind: 'close' };
  if (!/^\d{1,15}$/.test(length)) throw broken('the length of its body is not a number');
  return { kind: 'length', bytes: Number(length) };
};

const readHead = (text: string): Head => {
  const [first = '', ...lines] = text.split(lineEnd);
  const [, minor, code] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(first) ?? [];
  if (code === undefined) throw broken('it does not begin like an HTTP response');
  const status = Number(code);
  const headers = readHeaders(lines);
  const framing = framingOf(status, headers);
  const isLast = headers.get('connection')?.toLowerCase() === 'close' || framing.kind === 'close';
  const contentType = headers.get('content-type') ?? '';
  return { status, contentType, keeps: minor === '1' && !isLast, framing };
};

/** Parses the length from the line before a chunk. */
const chunkLength = (line: string): number => {
  const [, digits] = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
  if (digits === undefined) throw broken('a chunk has no length');
  return Number.parseInt(digits, 16);
};

/** Reads chunks and passes their bytes to `keep`. It skips trailers, because no caller uses them. */
const chunks = (keep: (bytes: Buffer) => void): BodyReader => {
  /** Number of bytes still missing of the current chunk; the line that ends the chunk follows them. */
  let left = 0;
  let expects: 'length' | 'end' | 'trailer' = 'length';
  const readLine = (line: string): boolean => {
    if (expects === 'trailer') return line === '';
    if (expects === 'end') {
      if (line !== '') throw broken('a chunk is longer than its length');
      expects = 'length';
      return false;
    }
    left = chunkLength(line);
    expects = left === 0 ? 'trailer' : 'end';
    return false;
  };
  return (bytes) => {
    let used = 0;
    while (used < bytes.length) {
      if (left > 0) {
        const part = bytes.subarray(used, used + left);
        keep(part);
        left -= part.length;
        used += part.length;
        continue;
      }
      const end = bytes.indexOf(lineEnd, used, 'latin1');
      if (end < 0) break;
      const isWhole = readLine(bytes.toString('latin1', used, end));
      used = end + lineEnd.length;
      if (isWhole) return { used, isWhole };
    }
    return { used, isWhole: false };
  };
};

const bytesOf = (length: number, keep: (bytes: Buffer) => void): BodyReader => {
  let left = length;
  return (bytes) => {
    const part = bytes.subarray(0, left);
    if (part.length > 0) keep(part);
    left -= part.length;
    return { used: part.length, isWhole: left === 0 };
  };
};

/** Creates a reader for one response. */
export const createAnswerReader = (): AnswerReader => {
  /** Received bytes that are not parsed yet, because their line is incomplete. */
  let waiting: Buffer | undefined;
  let head: Head | undefined;
  let readBody: BodyReader | undefined;
  const parts: Buffer[] = [];

  const keep = (part: Buffer): void => {
    parts.push(Buffer.from(part));
  };

  const bodyReader = ({ framing }: Head): BodyReader => {
    if (framing.kind === 'chunks') return chunks(keep);
    return bytesOf(framing.kind === 'length' ? framing.bytes : Number.POSITIVE_INFINITY, keep);
  };

  const answerOf = ({ status, contentType, keeps }: Head, isLast: boolean): ReadAnswer => {
    const [first] = parts;
    const bytes = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    return { status, contentType, bytes, keeps: keeps && isLast };
  };

  /**
   * Parses the head, and skips interim responses (1xx) before it. Returns the offset after the head of the final
   * response; undefined if that head is incomplete.
   */
  const findHead = (bytes: Buffer): number | undefined => {
    let from = 0;
    while (head === undefined) {
      const end = bytes.indexOf(headEnd, from, 'latin1');
      if (end < 0) return from === 0 ? undefined : from;
      const found = readHead(bytes.toString('latin1', from, end));
      from = end + headEnd.length;
      if (found.status < 200) continue;
      head = found;
      readBody = bodyReader(found);
    }
    return from;
  };

  const wait = (rest: Buffer): undefined => {
    if (rest.length > mostBytes) throw broken('a line is too long');
    waiting = rest.length === 0 ? undefined : Buffer.from(rest);
    return undefined;
  };

  return {
    take(taken) {
      const bytes = waiting === undefined ? taken : Buffer.concat([waiting, taken]);
      const from = head === undefined ? findHead(bytes) : 0;
      if (head === undefined || readBody === undefined) return wait(bytes.subarray(from ?? 0));
      const rest = bytes.subarray(from);
      const { used, isWhole } = readBody(rest);
      if (!isWhole) return wait(rest.subarray(used));
      return answerOf(head, used === rest.length);
    },
    end: () => (head?.framing.kind === 'close' ? answerOf(head, false) : undefined),
  };
};
