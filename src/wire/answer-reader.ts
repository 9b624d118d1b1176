/**
 * Reads one answer of HTTP/1.1 from the bytes of a connection, as they come. The usual one is the cheap one: it
 * comes in one piece, with its length. What could be read in two ways is refused.
 */

/** An answer, and whether its connection may be asked again. */
export type ReadAnswer = { status: number; contentType: string; bytes: Buffer; keeps: boolean };

export type AnswerReader = {
  /**
   * Takes the next bytes, which are the caller's again afterwards; the answer, once it is whole. Throws for what is
   * no answer.
   */
  take(bytes: Buffer): ReadAnswer | undefined;
  /** The server has ended the connection: the answer, where that is its end. */
  end(): ReadAnswer | undefined;
};

/** How the end of a body is told. */
type Framing = { kind: 'length'; bytes: number } | { kind: 'chunks' } | { kind: 'close' };
type Head = { status: number; contentType: string; keeps: boolean; framing: Framing };

/** Takes bytes of a body, and answers how many of them it has used and whether it is whole now. */
type BodyReader = (bytes: Buffer) => { used: number; isWhole: boolean };

const lineEnd = '\r\n';
const headEnd = '\r\n\r\n';
/** Of a head, and of a line between chunks. */
const mostBytes = 64 * 1024;

const broken = (what: string): Error =>
  Object.assign(new Error(`the answer cannot be read: ${what}`), { code: 'EPROTO' });

/** Headers by their names in lower case; of several with one name all values, as a list. */
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
      throw broken('it does not say how long it is');
    }
    return { kind: 'chunks' };
  }
  if (length === undefined) return { kind: 'close' };
  if (!/^\d{1,15}$/.test(length)) throw broken('its length is no number');
  return { kind: 'length', bytes: Number(length) };
};

const readHead = (text: string): Head => {
  const [first = '', ...lines] = text.split(lineEnd);
  const [, minor, code] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(first) ?? [];
  if (code === undefined) throw broken('it does not begin like one');
  const status = Number(code);
  const headers = readHeaders(lines);
  const framing = framingOf(status, headers);
  const isLast = headers.get('connection')?.toLowerCase() === 'close' || framing.kind === 'close';
  const contentType = headers.get('content-type') ?? '';
  return { status, contentType, keeps: minor === '1' && !isLast, framing };
};

/** The length that a line before a chunk tells. */
const chunkLength = (line: string): number => {
  const [, digits] = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
  if (digits === undefined) throw broken('a part of it has no length');
  return Number.parseInt(digits, 16);
};

/** Reads chunks; their bytes go to `keep`. Trailers are passed over, as nobody asks for them. */
const chunks = (keep: (bytes: Buffer) => void): BodyReader => {
  /** Bytes that the present chunk still has; the line that ends it comes after them. */
  let left = 0;
  let expects: 'length' | 'end' | 'trailer' = 'length';
  const readLine = (line: string): boolean => {
    if (expects === 'trailer') return line === '';
    if (expects === 'end') {
      if (line !== '') throw broken('a part of it is longer than it says');
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

/** Makes a reader for one answer. */
export const createAnswerReader = (): AnswerReader => {
  /** What no line of has been read yet. */
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

  /** Reads the head, after any that only say that one is to come; answers where it ends. */
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
    if (rest.length > mostBytes) throw broken('a line of it is too long');
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
