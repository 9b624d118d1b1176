/**
 * Creates the clients that commands use: of the public API, and of the admin API for operators. Each is the client of
 * src/wire, which retries during a restart of the service. Errors, and missing answers, get a hint at what the user can
 * do.
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

/** Time for which failed requests are retried, in milliseconds. A restart of the service takes less. */
const retryForMs = 15_000;

/**
 * Texts for messages: where the key and the address were read, the name of the key, and the variable that sets the
 * address.
 */
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
      urlSource === undefined ? `${variable} is not set` : `the address was read from ${urlSource}`;
    return `is the service running ("svc up" starts one)? ${found}`;
  }
  if (error.code === 'unauthenticated') return `the ${key} was read from ${source}`;
  const { retryAfterMs, requestId } = error.detail;
  if (typeof retryAfterMs === 'number') return `try again in ${Math.ceil(retryAfterMs / 1_000)} s`;
  if (error.code === 'internal' && typeof requestId === 'string') {
    return `the service's log has details of request ${requestId}`;
  }
  if (error.code === 'forbidden' && key === 'key pair') {
    return 'this command needs the secret key, not only the public key';
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

/** Creates a client that authenticates with the key pair, or with the public key alone, which only permits reads. */
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

/** Returns a client that shows progress on an output while it waits for an answer. */
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

/** Returns a client that throws `unavailable` if an answer takes longer than `patienceMs`. */
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
        `${client.baseUrl} accepted the request, but did not answer within ${patienceMs / 1_000} s`,
        {
          detail: {
            hint: 'the service, or a proxy in front of it, hangs: read its log and restart it',
          },
        },
      );
    }
  },
});
