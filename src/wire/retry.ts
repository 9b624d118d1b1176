/**
 * A client that rides out a restart of the server: it repeats a request that failed on the way, for a
 * while, and only where that is safe. Safe is what never left (no connection came about), and what may
 * come twice: reads, removals, and requests with an `Idempotency-Key`, which it gives to each operation
 * that takes one. Whatever else broke off may have been done, and its failure is the caller's to judge.
 *
 * It also comes again, when it was told to, to a server that had too much to do and so did nothing.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '#domain/backoff.ts';
import { AppError } from '#domain/error.ts';
import type { Client } from './client.ts';
import type { ClientInput, OperationShape } from './operation.ts';

export type RetryOptions = {
  /** How long a request is repeated after it failed first, in milliseconds. */
  forMs: number;
};

const pauses = { firstMs: 100, mostMs: 2_000 };
/** Answers of a server or of a proxy before it that say that nobody could serve the request. */
const awayStatuses: readonly unknown[] = [502, 503];
const repeatableMethods: readonly string[] = ['GET', 'PUT', 'DELETE'];

const keyHeader = 'idempotency-key';

const keyOf = (headers: unknown): unknown => (headers as Record<string, unknown>)?.[keyHeader];

const takesKey = ({ headers }: OperationShape): boolean =>
  Object.hasOwn((headers as { properties?: object } | undefined)?.properties ?? {}, keyHeader);

/** The input with a key, when the operation takes one and the caller gave none. */
const withKey = <Shape extends OperationShape>(
  shape: Shape,
  input: ClientInput<Shape>,
): ClientInput<Shape> => {
  if (!takesKey(shape) || keyOf(input.headers) !== undefined) return input;
  const headers = { ...(input.headers as object), [keyHeader]: randomUUID() };
  return { ...input, headers } as ClientInput<Shape>;
};

/** Whether no connection came about: nothing of the request has left. */
const isUnsent = ({ cause }: AppError): boolean => {
  const causes: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const syscalls = causes.map((one) => (one as NodeJS.ErrnoException | undefined)?.syscall);
  return syscalls.every((syscall) => syscall === 'connect' || syscall === 'getaddrinfo');
};

/** Whether the request did not reach anybody who could do it. */
const isAway = ({ code, detail: { status } }: AppError): boolean =>
  status === undefined ? code === 'unavailable' : awayStatuses.includes(status);

const busyStatus = 429;

/** Whether the server did nothing because too much was asked of it: not because the caller has used up its own. */
const isBusy = ({ detail: { status, quota, retryAfterMs } }: AppError): boolean =>
  status === busyStatus && quota === undefined && typeof retryAfterMs === 'number';

const pauseMs = (failures: number, { detail: { retryAfterMs } }: AppError): number => {
  // Later by chance, so that those who were refused together do not come back together.
  if (typeof retryAfterMs === 'number') return retryAfterMs * (1 + Math.random() / 2);
  return backoffMs(failures, pauses);
};

/** A wait that the signal ends: the next attempt then throws its reason. */
const waitFor = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  delay(ms, undefined, signal === undefined ? {} : { signal }).catch((error) => {
    if (!signal?.aborted) throw error;
  });

/**
 * Wraps a client. A server that it never reached is not waited for: it is more likely not there than on
 * its way back.
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
