/**
 * The one HTTP client of the project's own contracts. It sends an operation and returns its typed
 * answer, or throws an `AppError`: the server's own, or `unavailable` when no answer came.
 *
 * It never repeats a request. Who may safely repeat one (because the operation is idempotent, or
 * carries an `Idempotency-Key`) knows so and does it itself.
 */
import { AppError } from '#domain/error.ts';
import { fromErrorAnswer } from './errors.ts';
import type { Answer, ClientInput, OperationShape } from './operation.ts';

export type ClientOptions = {
  /** Base address of the API, for example `http://127.0.0.1:4500/api/public`. */
  baseUrl: string;
  /** The whole `Authorization` header. */
  authorization: string;
};

export type Client = {
  readonly baseUrl: string;
  send<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
  ): Promise<Answer<Shape>>;
};

/** `Authorization` header of a key pair. */
export const basicAuthorization = (publicKey: string, secretKey: string): string =>
  `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;

const fillPath = (path: string, params: Record<string, unknown>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));

const searchOf = (query: Record<string, unknown>): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
};

const headersOf = (options: ClientOptions, input: ClientInput<OperationShape>): Headers => {
  const headers = new Headers({ authorization: options.authorization });
  for (const [name, value] of Object.entries((input.headers ?? {}) as Record<string, unknown>)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  if (input.body !== undefined) headers.set('content-type', 'application/json');
  return headers;
};

const readBody = async (response: Response): Promise<unknown> => {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/octet-stream'))
    return new Uint8Array(await response.arrayBuffer());
  const text = await response.text();
  if (text === '') return undefined;
  if (!type.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('unavailable', `${response.url} answered broken JSON`, { cause });
  }
};

/** A client of one API. It is cheap to make and holds no connection of its own. */
export const createClient = (options: ClientOptions): Client => {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  return {
    baseUrl,
    async send(shape, input) {
      const request = input as ClientInput<OperationShape>;
      const path = fillPath(shape.path, (request.params ?? {}) as Record<string, unknown>);
      const search = searchOf((request.query ?? {}) as Record<string, unknown>);
      let status: number;
      let body: unknown;
      try {
        const response = await fetch(`${baseUrl}${path}${search}`, {
          method: shape.method,
          headers: headersOf(options, request),
          ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
          ...(request.signal === undefined ? {} : { signal: request.signal }),
        });
        status = response.status;
        body = await readBody(response);
      } catch (cause) {
        if (cause instanceof AppError) throw cause;
        if (request.signal?.aborted) throw request.signal.reason;
        throw new AppError('unavailable', `no answer from ${baseUrl}${path}`, { cause });
      }
      if (!(status in shape.answers)) throw fromErrorAnswer(status, body);
      return { status, body } as Answer<typeof shape>;
    },
  };
};
