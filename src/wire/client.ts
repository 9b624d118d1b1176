/**
 * The only HTTP client of the project's own contracts. It sends an operation and returns its typed answer. If that
 * fails, it throws an `AppError`: the server's own, or `unavailable` if no answer arrived.
 * Each request has an id, which the server writes to its log; the client's error carries it as `detail.requestId`.
 * The client never repeats a request. `retry.ts` wraps it into a client that repeats requests where that is safe. A
 * world host repeats its messages by itself, as each names the step that it belongs to.
 */
import type { Readable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { fromErrorAnswer } from './errors.ts';
import { exchange } from './exchange.ts';
import type { Exchanged } from './exchanged.ts';
import type { Answer, ClientInput, OperationShape } from './operation.ts';
import { exchangeStream } from './stream.ts';

export type ClientOptions = {
  /** Base address of the API, for example `http://127.0.0.1:4500/api/public`. */
  baseUrl: string;
  /** Value of the `Authorization` header, or a function that returns the current one. */
  authorization: string | (() => string);
};

export type Client = {
  readonly baseUrl: string;
  send<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
  ): Promise<Answer<Shape>>;
};

/** A client that can also stream answers. `createClient` returns this type. */
export type StreamingClient = Client & {
  /** Sends an operation whose answer is bytes, and returns them as a stream. */
  stream<Shape extends OperationShape>(shape: Shape, input: ClientInput<Shape>): Promise<Readable>;
};

/** Returns the `Authorization` header of a key pair. */
export const basicAuthorization = (publicKey: string, secretKey: string): string =>
  `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;

const fillPath = (path: string, params: Record<string, unknown>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));

const searchOf = (query: Record<string, unknown> | undefined): string => {
  if (query === undefined) return '';
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
};

const headersOf = (
  { authorization }: ClientOptions,
  input: ClientInput<OperationShape>,
): Record<string, string> => {
  const headers: Record<string, string> = {
    authorization: typeof authorization === 'string' ? authorization : authorization(),
    'x-request-id': newId('req'),
  };
  for (const [name, value] of Object.entries((input.headers ?? {}) as Record<string, unknown>)) {
    if (value !== undefined) headers[name] = String(value);
  }
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  return headers;
};

/**
 * Serialises a body as JSON. Throws `invalid` if that fails (the body nests too deep or is too long), because the
 * caller is at fault.
 */
const textOf = (body: unknown): string => {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new AppError(
      'invalid',
      'the body cannot be written as JSON: it nests too deep or is too long',
      { cause },
    );
  }
};

const byteTypes = ['application/octet-stream', 'video/webm'];

const bodyOf = (url: string, { contentType, bytes }: Exchanged): unknown => {
  if (byteTypes.some((type) => contentType.startsWith(type))) return new Uint8Array(bytes);
  const text = bytes.toString('utf8');
  if (text === '') return undefined;
  if (!contentType.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('unavailable', `the answer of ${url} is not valid JSON`, { cause });
  }
};

/** Reads a short stream into one buffer. */
const collect = async (stream: Readable): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
};

/** Creates a client of one API. Creating one is cheap; all clients of a process share their connections. */
export const createClient = (options: ClientOptions): StreamingClient => {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const addressOf = (shape: OperationShape, request: ClientInput<OperationShape>) => {
    const path = fillPath(shape.path, (request.params ?? {}) as Record<string, unknown>);
    const search = searchOf(request.query as Record<string, unknown> | undefined);
    return { path, url: `${baseUrl}${path}${search}` };
  };
  const unanswered = (
    cause: unknown,
    path: string,
    { signal }: ClientInput<OperationShape>,
  ): unknown => {
    if (signal?.aborted) return signal.reason;
    return new AppError('unavailable', `no answer from ${baseUrl}${path}`, { cause });
  };
  return {
    baseUrl,
    async send(shape, input) {
      const request = input as ClientInput<OperationShape>;
      const { path, url } = addressOf(shape, request);
      const body = request.body === undefined ? {} : { body: textOf(request.body) };
      let answer: Exchanged;
      try {
        answer = await exchange(url, {
          method: shape.method,
          headers: headersOf(options, request),
          ...body,
          signal: request.signal,
          answerMs: request.answerMs,
        });
      } catch (cause) {
        throw unanswered(cause, path, request);
      }
      const { status } = answer;
      const answered = bodyOf(url, answer);
      if (!(status in shape.answers)) throw fromErrorAnswer(status, answered);
      return { status, body: answered } as Answer<typeof shape>;
    },
    async stream(shape, input) {
      const request = input as ClientInput<OperationShape>;
      const { path, url } = addressOf(shape, request);
      const sent = { method: shape.method, headers: headersOf(options, request) };
      try {
        const { status, contentType, stream } = await exchangeStream(url, sent, request.signal);
        if (status in shape.answers) return stream;
        const bytes = await collect(stream);
        throw fromErrorAnswer(status, bodyOf(url, { status, contentType, bytes }));
      } catch (cause) {
        throw cause instanceof AppError ? cause : unanswered(cause, path, request);
      }
    },
  };
};
