/**
 * Posts one delivery to its receiver, once, and returns the outcome. Redirects are not followed. Only the status of
 * the answer matters. A limited part of its body is read, so that the receiver can finish sending, and discarded
 * without decompression.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type PushProblem, pushAnswerMs } from '#domain/push.ts';
import { connectChecked, type Network, PushError, timeoutError } from './connect.ts';
import { type ReceiverUrl, readReceiverUrl } from './receiver-url.ts';

export type Outgoing = {
  url: string;
  /** Headers, as they are covered by the signature. */
  headers: Readonly<Record<string, string>>;
  body: string;
};

/** Outcome of a delivery. `durationMs` includes resolving the receiver's name. */
export type Posted =
  | { status: number; note: string | null; durationMs: number }
  | { status: 0; problem: PushProblem; durationMs: number };

/** Maximum number of bytes that are read of an answer's body. */
export const mostAnswerBytes = 16 * 1024;
const mostHeaderBytes = 16 * 1024;

/** Headers that a world must not set, because they belong to the connection or choose the destination. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
]);
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/i;
const headerValue = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
const mostHeaders = 64;

const refuseHeader = (message: string): never => {
  throw new PushError('header', message);
};

/**
 * Returns the headers to send. Throws `PushError` for headers that would change the request's framing or destination.
 */
const checkHeaders = (headers: Outgoing['headers']): Record<string, string> => {
  const entries = Object.entries(headers);
  if (entries.length > mostHeaders) refuseHeader(`there are more than ${mostHeaders} headers`);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (!headerName.test(name)) refuseHeader(`${JSON.stringify(name)} is not a valid header name`);
    if (ownHeaders.has(lower)) refuseHeader(`the world may not set the header ${lower}`);
    if (seen.has(lower)) refuseHeader(`the header ${lower} is set twice`);
    if (typeof value !== 'string' || !headerValue.test(value)) {
      refuseHeader(`the value of the header ${lower} cannot be sent`);
    }
    seen.add(lower);
  }
  return { ...(seen.has('user-agent') ? {} : { 'user-agent': 'svc-webhooks/1' }), ...headers };
};

const begin = (
  { url, body }: { url: ReceiverUrl; body: Buffer },
  headers: Record<string, string>,
  socket: NonNullable<ClientRequest['socket']>,
): ClientRequest =>
  request({
    method: 'POST',
    path: url.target,
    // The socket is already connected; this host only goes into the request.
    host: url.host,
    defaultPort: 80,
    headers: {
      ...headers,
      host: new URL(url.href).host,
      'content-length': String(body.byteLength),
      connection: 'close',
    },
    setHost: false,
    maxHeaderSize: mostHeaderBytes,
    createConnection: () => socket,
  });

/** Waits for the status and headers of the answer. Throws `PushError`. */
const answerTo = (sent: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const fail = (error: PushError): void => {
      sent.destroy();
      reject(error);
    };
    const onAbort = () => fail(timeoutError());
    signal.addEventListener('abort', onAbort, { once: true });
    sent.once('close', () => signal.removeEventListener('abort', onAbort));
    sent.once('response', resolve);
    sent.once('upgrade', () =>
      fail(
        new PushError('answer', 'the receiver switched to another protocol instead of answering'),
      ),
    );
    sent.on('error', (error: Error & { code?: string }) => {
      const isHttp = error.code?.startsWith('HPE_') ?? false;
      const words = isHttp
        ? `the receiver's answer is not valid HTTP: ${error.code}`
        : `the connection ended before the answer: ${error.code ?? error.message}`;
      fail(new PushError(isHttp ? 'answer' : 'closed', words, error));
    });
    if (signal.aborted) onAbort();
  });

/** Reads a limited part of the body. Returns a note about the unread rest of the body; null if all of it was read. */
const drain = (answer: IncomingMessage, signal: AbortSignal): Promise<string | null> =>
  new Promise((resolve) => {
    let bytes = 0;
    const end = (note: string | null): void => {
      signal.removeEventListener('abort', onAbort);
      answer.destroy();
      resolve(note);
    };
    const onAbort = () => end("the rest of the receiver's answer did not arrive in time");
    signal.addEventListener('abort', onAbort, { once: true });
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > mostAnswerBytes)
        end(`only the first ${mostAnswerBytes} bytes of the receiver's answer were read`);
    });
    answer.once('end', () => end(null));
    answer.on('error', () => end("the receiver's answer was cut off"));
    answer.once('close', () => end("the receiver's answer was cut off"));
    if (signal.aborted) onAbort();
  });

const send = async (
  outgoing: Outgoing,
  network: Network,
  signal: AbortSignal,
): Promise<{ status: number; note: string | null }> => {
  const read = readReceiverUrl(outgoing.url);
  if ('problem' in read) throw new PushError(read.problem.code, read.problem.message);
  const headers = checkHeaders(outgoing.headers);
  const socket = await connectChecked(read.url, network, signal);
  try {
    const body = Buffer.from(outgoing.body);
    const sent = begin({ url: read.url, body }, headers, socket);
    const heard = answerTo(sent, signal);
    sent.end(body);
    const answer = await heard;
    const status = answer.statusCode ?? 0;
    const note = await drain(answer, signal);
    const isRedirect = status >= 300 && status < 400;
    return { status, note: isRedirect ? 'redirects are not followed' : note };
  } finally {
    socket.destroy();
  }
};

/** Posts a delivery. It never throws; a failure is returned with its reason. */
export const post = async (
  outgoing: Outgoing,
  network: Network,
  mostMs = pushAnswerMs,
): Promise<Posted> => {
  const beganAt = performance.now();
  const durationMs = () => Math.round((performance.now() - beganAt) * 100) / 100;
  try {
    const answer = await send(outgoing, network, AbortSignal.timeout(mostMs));
    return { ...answer, durationMs: durationMs() };
  } catch (error) {
    if (error instanceof PushError) {
      return { status: 0, problem: error.problem, durationMs: durationMs() };
    }
    throw error;
  }
};
