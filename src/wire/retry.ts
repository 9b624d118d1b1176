/**
 * A client that survives a restart of the server: it repeats a failed request for a while, and only where that is safe.
 * It is safe for requests that were never sent (no connection was made). It is also safe for requests that may arrive
 * twice: reads, removals, and requests with an `Idempotency-Key`, which this client adds to each operation that takes
 * one. Any other request that broke off may have been executed, so the client passes its failure to the caller.
 * It also repeats a request that an overloaded server rejected with a time to retry after.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '#domain/backoff.ts';
import { AppError } from '#domain/error.ts';
import type { Client } from './client.ts';
import type { ClientInput, OperationShape } from './operation.ts';

export type RetryOptions = {
  /** Time for which a request is repeated after its first failure, in milliseconds. */
  forMs: number;
};

const pauses = { firstMs: 100, mostMs: 2_000 };
/** Statuses by which a server, or a proxy in front of it, says that no server could execute the request. */
const awayStatuses: readonly unknown[] = [502, 503];
const repeatableMethods: readonly string[] = ['GET', 'PUT', 'DELETE'];

const keyHeader = 'idempotency-key';

const keyOf = (headers: unknown): unknown => (headers as Record<string, unknown>)?.[keyHeader];

const takesKey = ({ headers }: OperationShape): boolean =>
  Object.hasOwn((headers as { properties?: object } | undefined)?.properties ?? {}, keyHeader);

/** Returns the input with a key, if the operation takes one and the caller gave none. */
const withKey = <Shape extends OperationShape>(
  shape: Shape,
  input: ClientInput<Shape>,
): ClientInput<Shape> => {
  if (!takesKey(shape) || keyOf(input.headers) !== undefined) return input;
  const headers = { ...(input.headers as object), [keyHeader]: randomUUID() };
  return { ...input, headers } as ClientInput<Shape>;
};

/** Returns true if no connection was made, so that no part of the request was sent. */
const isUnsent = ({ cause }: AppError): boolean => {
  const causes: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const syscalls = causes.map((one) => (one as NodeJS.ErrnoException | undefined)?.syscall);
  return syscalls.every((syscall) => syscall === 'connect' || syscall === 'getaddrinfo');
};

/** Returns true if the request did not reach a server that could execute it. */
const isAway = ({ code, detail: { status } }: AppError): boolean =>
  status === undefined ? code === 'unavailable' : awayStatuses.includes(status);

const busyStatus = 429;

/** Returns true if an overloaded server rejected the request. A quota that the caller has used up does not count. */
const isBusy = ({ detail: { status, quota, retryAfterMs } }: AppError): boolean =>
  status === busyStatus && quota === undefined && typeof retryAfterMs === 'number';

const pauseMs = (failures: number, { detail: { retryAfterMs } }: AppError): number => {
  // Random jitter, so that clients that were rejected together do not come back together.
  if (typeof retryAfterMs === 'number') return retryAfterMs * (1 + Math.random() / 2);
  return backoffMs(failures, pauses);
};

/** Waits for the given time, or until the signal aborts. The next attempt then throws the signal's reason. */
const waitFor = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  delay(ms, undefined, signal === undefined ? {} : { signal }).catch((error) => {
    if (!signal?.aborted) throw error;
  });

/**
 * Wraps a client. If the server was never reached, the wrapper does not wait for it: a wrong address is then more
 * likely than a restart of the server.
 */
export const retrying = (client: Client, { forMs }: RetryOptions): Client => {
  let wasReached = false;

  const mayRepeat = (shape: OperationShape, headers: unknown, error: AppError): boolean => {
    if (isBusy(error)) return true;
    if (!isAway(error)) return false;
    if (isUnsent(error)) return wasReached;
    return repeatableMethods.includes(shape.method) || keyOf(headers) !== undefined;
  };

  return {
    baseUrl: client.baseUrl,
    async send(shape, given) {
      const input = withKey(shape, given);
      let endsAt: number | undefined;
      for (let failures = 1; ; failures += 1) {
        try {
          const answer = await client.send(shape, input);
          wasReached = true;
          return answer;
        } catch (error) {
          if (input.signal?.aborted || !(error instanceof AppError)) throw error;
          wasReached ||= error.detail.status !== undefined || !isUnsent(error);
          if (!mayRepeat(shape, input.headers, error)) throw error;
          const ms = pauseMs(failures, error);
          endsAt ??= performance.now() + forMs;
          if (performance.now() + ms > endsAt) throw error;
          await waitFor(ms, input.signal);
        }
      }
    },
  };
};
