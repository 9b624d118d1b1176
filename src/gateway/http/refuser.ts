/**
 * Sends the errors that the gateway itself answers, and counts each in the metrics. It can also answer if there is no
 * response object yet, and while the request's body is still arriving. Relayed answers use its `endGently` when they
 * end before their request does.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalJson, refusalJsonHead, refusalPageHead } from '#runtime/surface-refusal.ts';
import { hasBody } from './forwarded-headers.ts';
import type { Refusal } from './refusals.ts';

export type RefusalOptions = {
  /** True closes the connection after the answer. While the gateway stops, every answer closes its connection. */
  isLast?: boolean;
  /** HTML to answer to a browser, in place of JSON. */
  page?: string | undefined;
};

export type Refuser = {
  /** Answers a request. Sends nothing if the head of another answer was already sent. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    refusal: Refusal,
    options?: RefusalOptions,
  ): void;
  /** Answers on a connection on which no request could be parsed, and closes it. */
  endConnection(socket: Duplex, refusal: Refusal): void;
};

export type RefuserOptions = {
  isStopping(): boolean;
  /** Called for each refusal that is sent, for the metrics. */
  onRefusal(refusal: Refusal): void;
};

/**
 * Time for which the rest of a request is read and discarded. A client that is still sending reads its answer late,
 * and closing the connection earlier would lose the answer.
 */
const lingerMs = 1_000;

/** Returns true if the client has not sent all of its request. */
export const isSending = (request: IncomingMessage): boolean =>
  hasBody(request) && !request.complete;

/** Ends an answer. If the request is still arriving, waits until it has ended, or 1 s at most. */
export const endGently = (request: IncomingMessage, response: ServerResponse): void => {
  if (!isSending(request)) {
    response.end();
    return;
  }
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once('end', end).once('close', end).resume();
};

const headOf = ({ retryAfterS }: Refusal, kind: string[], body: string, isLast: boolean) => [
  ...kind,
  ...['content-length', String(Buffer.byteLength(body))],
  ...['cache-control', 'no-store'],
  ...(retryAfterS === undefined ? [] : ['retry-after', String(retryAfterS)]),
  ...(isLast ? ['connection', 'close'] : []),
];

/** Formats the head of an HTTP message, including the empty line. `headers` holds names and values alternating. */
export const linesOf = (status: number, headers: readonly string[]): string => {
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
};

/** Creates the refuser of one gateway. */
export const createRefuser = ({ isStopping, onRefusal }: RefuserOptions): Refuser => ({
  answer(request, response, refusal, { isLast = false, page } = {}) {
    if (response.headersSent || response.destroyed) return;
    onRefusal(refusal);
    const body = page ?? refusalJson(refusal);
    const ends = isLast || isStopping() || isSending(request);
    const kind = page === undefined ? refusalJsonHead : refusalPageHead;
    const words = STATUS_CODES[refusal.status] ?? '';
    response.writeHead(refusal.status, words, headOf(refusal, kind, body, ends));
    response.write(request.method === 'HEAD' ? '' : body);
    endGently(request, response);
  },
  endConnection(socket, refusal) {
    if (!socket.writable) return;
    onRefusal(refusal);
    const body = refusalJson(refusal);
    const head = linesOf(refusal.status, headOf(refusal, refusalJsonHead, body, true));
    socket.end(`${head}${body}`, () => socket.destroy());
  },
});
