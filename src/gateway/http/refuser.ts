/**
 * Sends what the gateway itself answers, also where no answer is under way yet or a body still comes, and
 * has it counted. Where else an answer may end before the request has, it ends as gently as these do.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalJson, refusalJsonHead, refusalPageHead } from '#runtime/surface-refusal.ts';
import { hasBody } from './forwarded-headers.ts';
import type { Refusal } from './refusals.ts';

export type RefusalOptions = {
  /** Whether the answer is the last one of its connection; that it always is while the gateway ends. */
  isLast?: boolean;
  /** HTML for a person, in place of JSON. */
  page?: string | undefined;
};

export type Refuser = {
  /** Answers a request. Nothing is sent when the head of another answer was already. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    refusal: Refusal,
    options?: RefusalOptions,
  ): void;
  /** Answers on a connection of which no request could be read, and closes it. */
  endConnection(socket: Duplex, refusal: Refusal): void;
};

export type RefuserOptions = {
  isStopping(): boolean;
  /** Told of each refusal. */
  onRefusal(refusal: Refusal): void;
};

/**
 * A client that is still sending reads its answer late. A connection that is closed before would take
 * the answer with it, so what comes is read on and thrown away for so long.
 */
const lingerMs = 1_000;

/** Whether the client has not sent all of its request. */
export const isSending = (request: IncomingMessage): boolean =>
  hasBody(request) && !request.complete;

/** Ends an answer; where its request still comes, not before that has ended, or a while has passed. */
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

/** The lines of a head, from names and values in turn, up to the empty one. */
export const linesOf = (status: number, headers: readonly string[]): string => {
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
};

/** Makes what refuses for one gateway. */
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
