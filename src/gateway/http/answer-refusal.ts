/** Sends what the gateway itself answers, also where no answer is under way yet or a body still comes. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from '../refusals.ts';
import { hasBody } from './forwarded-headers.ts';

/**
 * A client that is still sending reads its answer late. A connection that is closed before would take
 * the answer with it, so what comes is read on and thrown away for so long.
 */
const lingerMs = 1_000;

const bodyOf = ({ code, message, details }: Refusal): string =>
  JSON.stringify({ error: { code, message, details } });

const headOf = (refusal: Refusal, body: string, isLast: boolean): string[] => [
  'content-type',
  'application/json; charset=utf-8',
  'content-length',
  String(Buffer.byteLength(body)),
  'cache-control',
  'no-store',
  ...(refusal.retryAfterS === undefined ? [] : ['retry-after', String(refusal.retryAfterS)]),
  ...(isLast ? ['connection', 'close'] : []),
];

const linger = (request: IncomingMessage, response: ServerResponse): void => {
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once('end', end).once('close', end).resume();
};

/** Answers a request. Nothing is sent when the head of another answer was already. */
export const answerRefusal = (
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  isLast: boolean,
): void => {
  if (response.headersSent || response.destroyed) return;
  const isSending = hasBody(request) && !request.complete;
  const body = bodyOf(refusal);
  response.writeHead(refusal.status, headOf(refusal, body, isLast || isSending));
  response.write(request.method === 'HEAD' ? '' : body);
  if (isSending) linger(request, response);
  else response.end();
};

/** Answers on a connection of which no request could be read, and closes it. */
export const refuseConnection = (socket: Duplex, refusal: Refusal): void => {
  const body = bodyOf(refusal);
  const head = headOf(refusal, body, true);
  const lines = head.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  const status = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\n`;
  socket.end(`${status}${lines.join('')}\r\n${body}`, () => socket.destroy());
};
