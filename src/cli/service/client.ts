/**
 * Creates the clients that commands use: of the public API, and of the admin API for operators. Each is the client of
 * src/wire, which retries during a restart of the service. It adds to errors, and to missing answers, a hint at what
 * the user can do.
 */
import { AppError } from '#domain/error.ts';
import { trustAuthorityFile } from '#runtime/trust.ts';
import {
  basicAuthorization,
  type Client,
  createClient,
  type StreamingClient,
} from '#wire/client.ts';
import { retrying } from '#wire/retry.ts';
import type { Output } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import {
  type AccountConnection,
  type Connection,
  type Lookup,
  type OperatorConnection,
  readAccountConnection,
  readConnection,
  readOperatorConnection,
} from './connection.ts';

/** Time for retries, in milliseconds. A restart of the service is faster. */
const retryForMs = 15_000;

/** Sources of key and address, and the key's name in messages. */
type Origin = Pick<Connection, 'source' | 'urlSource'> & {
  key: string;
  variable: 'SVC_URL' | 'SVC_ADMIN_URL';
};

const hintFor = (
  error: AppError,
  { source, urlSource, key, variable }: Origin,
): string | undefined => {
  const answered = error.detail.status !== undefined;
  if (!answered && error.code === 'unavailable') {
    const found =
      urlSource === undefined ? `${variable} is not set` : `the address is from ${urlSource}`;
    return `is the service running ("svc up" starts one)? ${found}`;
  }
  if (error.code === 'unauthenticated') return `the ${key} is from ${source}`;
  const { retryAfterMs, requestId } = error.detail;
  if (typeof retryAfterMs === 'number') return `try again in ${Math.ceil(retryAfterMs / 1_000)} s`;
  if (error.code === 'internal' && typeof requestId === 'string') {
    return `the service's log has more about request ${requestId}`;
  }
  if (error.code === 'forbidden' && key === 'key pair') {
    return 'this needs the secret key, not only the public key';
  }
  return undefined;
};

const withHint = (error: unknown, origin: Origin): unknown => {
  if (!(error instanceof AppError)) return error;
  const hint = hintFor(error, origin);
  if (hint === undefined) return error;
  const { code, message, detail, fields, cause } = error;
  return new AppError(code, message, { detail: { ...detail, hint }, fields, cause });
};

const hinting = (plain: Client, origin: Origin): Client => {
  const client = retrying(plain, { forMs: retryForMs });
  return {
    baseUrl: client.baseUrl,
    async send(shape, input) {
      try {
        return await client.send(shape, input);
      } catch (error) {
        throw input.signal?.aborted ? error : withHint(error, origin);
      }
    },
  };
};

const plainClientOf = ({ secretKey, url, publicKey, caFile }: Connection): StreamingClient => {
  if (caFile !== undefined) trustAuthorityFile(caFile);
  const authorization =
    secretKey === undefined
      ? `Bearer ${publicKey}`
      : basicAuthorization(publicKey, secretKey.reveal());
  return createClient({ baseUrl: `${url}/api/public`, authorization });
};

const originOf = ({ source, urlSource }: Connection): Origin => ({
  ...{ source, urlSource },
  ...{ key: 'key pair', variable: 'SVC_URL' },
});

/** Creates a client that authenticates with the key pair, or with the public key alone, which may only read. */
export const clientOf = (connection: Connection): Client =>
  hinting(plainClientOf(connection), originOf(connection));

/** Creates a client of the admin API for an operator. */
const operatorClientOf = ({ url, token, source, urlSource }: OperatorConnection): Client => {
  const authorization = `Bearer ${token.reveal()}`;
  const plain = createClient({ baseUrl: `${url}/api/admin`, authorization });
  const key = "operator's token";
  return hinting(plain, { source, urlSource, key, variable: 'SVC_ADMIN_URL' });
};

/** Creates a client of the account routes. */
const accountClientOf = (connection: AccountConnection): Client => {
  const { url, authorization, key, source, urlSource, caFile } = connection;
  if (caFile !== undefined) trustAuthorityFile(caFile);
  const plain = createClient({
    baseUrl: `${url}/api/public`,
    authorization: authorization.reveal(),
  });
  return hinting(plain, { source, urlSource, key, variable: 'SVC_URL' });
};

/** Returns a client that shows progress on an output while an answer takes long. */
export const showingWaits = (client: Client, out: Output): Client => ({
  baseUrl: client.baseUrl,
  send: (shape, input) =>
    withProgress({ out, step: `waiting for ${client.baseUrl}` }, () => client.send(shape, input)),
});

/** Creates a client from the environment or the credentials file. */
export const connect = (lookup: Lookup): Client => clientOf(readConnection(lookup));

/** Returns a function that streams bytes from the service. Streamed requests are not repeated. */
export const connectStream = (lookup: Lookup): StreamingClient['stream'] => {
  const connection = readConnection(lookup);
  return async (shape, input) => {
    try {
      return await plainClientOf(connection).stream(shape, input);
    } catch (error) {
      throw withHint(error, originOf(connection));
    }
  };
};

/** Creates an operator's client from the environment or the data folder. */
export const connectOperator = (lookup: Lookup): Client =>
  operatorClientOf(readOperatorConnection(lookup));

/** Creates a client of the account routes from the environment or the credentials file. */
export const connectAccount = (lookup: Lookup): Client =>
  accountClientOf(readAccountConnection(lookup));

/** Returns a client that throws `unavailable` for answers that take longer than `patienceMs`. */
export const answeringWithin = (client: Client, patienceMs: number): Client => ({
  baseUrl: client.baseUrl,
  async send(shape, input) {
    const late = AbortSignal.timeout(patienceMs);
    const signal = input.signal === undefined ? late : AbortSignal.any([input.signal, late]);
    try {
      return await client.send(shape, { ...input, signal });
    } catch (error) {
      if (error !== late.reason) throw error;
      throw new AppError(
        'unavailable',
        `${client.baseUrl} took the request and did not answer within ${patienceMs / 1_000} s`,
        {
          detail: { hint: 'the service, or a proxy before it, hangs: see its log and restart it' },
        },
      );
    }
  },
});
