/**
 * The client of the public API that commands use. It is the wire's client, which rides out a restart
 * of the service; it only adds to what a service refuses, or to its silence, what the user can do.
 */
import { AppError } from '#domain/error.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { retrying } from '#wire/retry.ts';
import { type Connection, type Place, readConnection } from './config.ts';

/** A service that starts again is back sooner. */
const retryForMs = 15_000;

const hintFor = (error: AppError, { source }: Connection): string | undefined => {
  const answered = error.detail.status !== undefined;
  if (!answered && error.code === 'unavailable') {
    return `is the service running? The address is from ${source}; "svc up" starts a service`;
  }
  if (error.code === 'unauthenticated') return `the key pair is from ${source}`;
  const { retryAfterMs } = error.detail;
  if (typeof retryAfterMs === 'number') return `try again in ${Math.ceil(retryAfterMs / 1_000)} s`;
  if (error.code === 'forbidden') return 'this needs the secret key, not only the public key';
  return undefined;
};

const withHint = (error: unknown, connection: Connection): unknown => {
  if (!(error instanceof AppError)) return error;
  const hint = hintFor(error, connection);
  if (hint === undefined) return error;
  const { code, message, detail, fields, cause } = error;
  return new AppError(code, message, { detail: { ...detail, hint }, fields, cause });
};

/** A client as the key pair, or as the public key alone, which may only read. */
export const clientOf = (connection: Connection): Client => {
  const { url, publicKey, secretKey } = connection;
  const authorization =
    secretKey === undefined
      ? `Bearer ${publicKey}`
      : basicAuthorization(publicKey, secretKey.reveal());
  const plain = createClient({ baseUrl: `${url}/api/public`, authorization });
  const client = retrying(plain, { forMs: retryForMs });
  return {
    baseUrl: client.baseUrl,
    async send(shape, input) {
      try {
        return await client.send(shape, input);
      } catch (error) {
        throw input.signal?.aborted ? error : withHint(error, connection);
      }
    },
  };
};

/** A client from the environment or the credentials file. */
export const connect = (place: Place): Client => clientOf(readConnection(place));
