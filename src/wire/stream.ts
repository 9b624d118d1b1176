/**
 * An exchange whose answer is read piece by piece, by whoever asked: for bytes that are too many to be in memory
 * at once. Such an answer may take as long as it likes, if only it goes on.
 */
import type { IncomingMessage } from 'node:http';
import type { Sent } from './exchanged.ts';
import { http, https } from './http.ts';

export type Streamed = { status: number; contentType: string; stream: IncomingMessage };

/** How long the server may be silent, before its answer and within it. */
const silenceMs = 10_000;

/** Resolves when the answer begins. The stream fails when the answer breaks off, or the signal ends it. */
export const exchangeStream = (
  url: string,
  { method, headers }: Sent,
  signal?: AbortSignal,
): Promise<Streamed> =>
  new Promise((resolve, reject) => {
    const { request: begin } = url.startsWith('https:') ? https() : http;
    const request = begin(url, { method, headers, ...(signal === undefined ? {} : { signal }) });
    request.setTimeout(silenceMs, () => {
      const silent = new Error(`no bytes of the answer in ${silenceMs / 1000} s`);
      request.destroy(Object.assign(silent, { code: 'ETIMEDOUT' }));
    });
    request.on('error', reject);
    request.on('response', (stream) =>
      resolve({
        status: stream.statusCode ?? 0,
        contentType: stream.headers['content-type'] ?? '',
        stream,
      }),
    );
    request.end();
  });
