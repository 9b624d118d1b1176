/**
 * An exchange whose answer the caller reads as a stream, for answers that are too large to be held in memory. Such an
 * answer has no time limit as long as it makes progress.
 */
import type { IncomingMessage } from 'node:http';
import type { Sent } from './exchanged.ts';
import { http, https } from './http.ts';

export type Streamed = { status: number; contentType: string; stream: IncomingMessage };

/** Maximum silence of the server, before its answer and within it, in milliseconds. */
const silenceMs = 10_000;

/** Resolves when the answer begins. Later the stream fails if the answer breaks off or the signal aborts. */
export const exchangeStream = (
  url: string,
  { method, headers }: Sent,
  signal?: AbortSignal,
): Promise<Streamed> =>
  new Promise((resolve, reject) => {
    const { request: begin } = url.startsWith('https:') ? https() : http;
    const request = begin(url, { method, headers, ...(signal === undefined ? {} : { signal }) });
    request.setTimeout(silenceMs, () => {
      const silent = new Error(
        `the server sent nothing more of its answer for ${silenceMs / 1000} s`,
      );
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
