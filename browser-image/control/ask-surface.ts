/**
 * Sends requests of the browser program itself to a surface of its session, by the same route as the browser's own
 * requests.
 */
import { request as openRequest } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { AppError } from '#domain/error.ts';
import type { Destination } from '../policy/origins.ts';
import type { Route } from '../policy/route.ts';

export type SurfaceRequest = {
  url: URL;
  to: Destination;
  headers: Record<string, string>;
  /** Body, sent as JSON. */
  body: unknown;
  signal: AbortSignal;
};

/** Upper bound for the size of an answer. */
const mostBytes = 1024 * 1024;

const dial = async (route: Route, { url, to }: SurfaceRequest) => {
  const socket = await route.dial(to);
  return url.protocol === 'https:' ? connectTls({ socket, servername: url.hostname }) : socket;
};

/**
 * Posts a request and resolves with the answer's JSON. Throws `unavailable` if there is no answer, or its status is
 * not 200.
 */
export const postToSurface = async (route: Route, asked: SurfaceRequest): Promise<unknown> => {
  const { url, signal } = asked;
  const body = JSON.stringify(asked.body);
  const socket = await dial(route, asked);
  const headers = {
    ...asked.headers,
    host: url.host,
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown): void => {
      socket.destroy();
      reject(new AppError('unavailable', `${url.origin} did not answer`, { cause }));
    };
    const request = openRequest({
      createConnection: () => socket,
      method: 'POST',
      path: url.pathname,
      headers,
      signal,
    });
    request.once('error', fail);
    request.once('response', async (answer) => {
      let text = '';
      try {
        for await (const chunk of answer.setEncoding('utf8')) {
          text += chunk;
          if (text.length > mostBytes) throw new Error('the answer is too large');
        }
        if (answer.statusCode !== 200)
          throw new Error(`the answer has status ${answer.statusCode}`);
        resolve(JSON.parse(text));
      } catch (error) {
        fail(error);
      }
    });
    request.end(body);
  });
};
