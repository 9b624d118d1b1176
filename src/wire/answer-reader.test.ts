/** Tests the reader with responses in pieces of any length, and with broken responses. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerReader, type ReadAnswer } from './answer-reader.ts';

const ok = 'HTTP/1.1 200 OK\r\n';

/** Reads an answer that arrives in pieces of the given size, from a buffer that each piece overwrites. */
const readIn = (pieces: readonly number[], text: string): ReadAnswer | undefined => {
  const reader = createAnswerReader();
  const bytes = Buffer.from(text, 'latin1');
  const buffer = Buffer.alloc(bytes.length);
  let from = 0;
  for (const size of [...pieces, bytes.length]) {
    const length = bytes.copy(buffer, 0, from, Math.min(bytes.length, from + size));
    from += length;
    const answer = reader.take(buffer.subarray(0, length));
    buffer.fill(0xff);
    if (answer !== undefined) return answer;
  }
  return undefined;
};

const read = (text: string): ReadAnswer | undefined => readIn([], text);

const inChunks = (parts: readonly string[]): string =>
  parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');

describe('the response reader', () => {
  it('reads a body of the length that its header gives', () => {
    const answer = read(`${ok}Content-Type: text/plain\r\ncontent-length: 3\r\n\r\nabc`);
    expect(answer).toMatchObject({ status: 200, contentType: 'text/plain', keeps: true });
    expect(answer?.bytes.toString()).toBe('abc');
  });

  it('reads a chunked body with extensions and trailers', () => {
    const body = '3;name="a"\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nsum: 1\r\n\r\n';
    const answer = read(`${ok}transfer-encoding: chunked\r\n\r\n${body}`);
    expect(answer?.bytes.toString()).toBe('abc0123456789abcdef');
    expect(answer?.keeps).toBe(true);
  });

  it('ends a body without a length with its connection', () => {
    const reader = createAnswerReader();
    expect(reader.take(Buffer.from(`${ok}\r\nab`))).toBeUndefined();
    expect(reader.take(Buffer.from('c'))).toBeUndefined();
    expect(reader.end()).toMatchObject({ bytes: Buffer.from('abc'), keeps: false });
  });

  it('returns no answer when the connection breaks off within it', () => {
    const reader = createAnswerReader();
    reader.take(Buffer.from(`${ok}content-length: 3\r\n\r\nab`));
    expect(reader.end()).toBeUndefined();
    expect(createAnswerReader().end()).toBeUndefined();
  });

  it('skips interim responses, and reads responses without a body', () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
    expect(read(`${early}HTTP/1.1 204 No Content\r\n\r\n`)).toMatchObject({
      status: 204,
      keeps: true,
    });
    expect(read(`${ok}content-length: 0\r\n\r\n`)?.bytes).toHaveLength(0);
  });

  it('does not keep a connection that the response closes, or on which surplus bytes follow', () => {
    const one = 'content-length: 1\r\n';
    expect(read(`${ok}connection: Close\r\n${one}\r\na`)?.keeps).toBe(false);
    expect(read(`HTTP/1.0 200 OK\r\n${one}\r\na`)?.keeps).toBe(false);
    expect(read(`${ok}${one}\r\nab`)).toMatchObject({ bytes: Buffer.from('a'), keeps: false });
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['another HTTP', 'HTTP/2 200\r\n\r\n'],
    ['a header without a name', `${ok}: a\r\n\r\n`],
    ['a length that is no number', `${ok}content-length: 0x10\r\n\r\n`],
    ['two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\na`],
    ['a length and parts', `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['another coding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['a part without a length', `${ok}transfer-encoding: chunked\r\n\r\nxyz\r\n`],
    [
      'a part that is longer than it says',
      `${ok}transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n`,
    ],
    ['a head without end', `${ok}a: ${'b'.repeat(70_000)}`],
  ])('rejects a response with %s', (_, text) => {
    expect(() => read(text)).toThrow('the answer cannot be read');
  });

  it('reads the same answer from pieces of any size', () => {
    const bodies = fc.array(fc.string({ minLength: 1, unit: 'binary-ascii' }), { maxLength: 6 });
    const pieces = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 });
    fc.assert(
      fc.property(bodies, pieces, fc.boolean(), (parts, sizes, isChunked) => {
        const body = parts.join('');
        const text = isChunked
          ? `${ok}transfer-encoding: chunked\r\n\r\n${inChunks(parts)}0\r\n\r\n`
          : `${ok}content-length: ${body.length}\r\n\r\n${body}`;
        const answer = readIn(sizes, text);
        expect(answer?.bytes.toString('latin1')).toBe(body);
        expect(answer?.keeps).toBe(true);
      }),
    );
  });
});
