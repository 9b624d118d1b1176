/**
 * Answers input that is not HTTP, is too long, or arrives too slowly. Such a request never reaches the application, so
 * this file answers it with the service's common error body and closes its connection.
 */

import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { own } from '#domain/json.ts';
import type { ErrorBody } from '#wire/errors.ts';

type Refusal = { status: number; message: string };

const refusals: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message:
      'the address and the headers of the request have more than 16 KiB together, the maximum',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    message: 'the request did not arrive completely in time',
  },
};
const notHttp: Refusal = { status: 400, message: 'this is no HTTP request' };

/**
 * Writes an error answer to the socket of a request that cannot be parsed. The answer quotes nothing that the client
 * sent.
 */
export const answerBroken = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = own(refusals, error.code ?? '') ?? notHttp;
  const body: ErrorBody = { message, error: 'invalid' };
  const text = JSON.stringify(body);
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
  );
};
