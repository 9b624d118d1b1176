/**
 * Handles repeated requests that create a version. All requests with the same `Idempotency-Key` get the result of the
 * first one, even if they run concurrently.
 */
import { AppError } from '#domain/error.ts';
import { violates } from '../../db/core/errors.ts';
import {
  type Creation,
  creationConstraint,
  findCreation,
  type Made,
} from '../../db/core/idempotency-keys.ts';
import type { WorldParts } from '../parts.ts';

/** `Idempotency-Key` of a request with its purpose; undefined if the request has no key. */
export type Once = Creation | undefined;

/**
 * Returns the `Idempotency-Key` of a request with its purpose: the operation, the world in its path, and the hash of
 * its body.
 */
export const onceOf = (
  operation: string,
  headers: { 'idempotency-key'?: string | undefined } | undefined,
  hash: string | null,
): Once => {
  const key = headers?.['idempotency-key'];
  return key === undefined || hash === null ? undefined : { key, operation, hash };
};

/**
 * Returns what an earlier request with the same `Idempotency-Key` created. Throws `conflict` if that request differed.
 */
const findFirst = async (
  { db }: Pick<WorldParts, 'db'>,
  projectId: string,
  once: Creation,
): Promise<Made | undefined> => {
  const made = await findCreation(db, projectId, once.key);
  if (made === undefined) return undefined;
  if (made.operation === once.operation && made.hash === once.hash) return made;
  throw new AppError(
    'conflict',
    `another request with this Idempotency-Key made ${made.versionId}`,
  );
};

/** Returns true if a concurrent request with the same `Idempotency-Key` may have caused the error. */
const mayHaveMade = (error: unknown): boolean =>
  violates(error, creationConstraint) ||
  (error instanceof AppError && ['conflict', 'exhausted'].includes(error.code));

/**
 * Runs `make`. If an earlier request with the same `Idempotency-Key` already created something, calls `repeat` with the
 * result of that request instead.
 */
export const makeOnce = async <Value>(
  parts: Pick<WorldParts, 'db'>,
  { projectId, once }: { projectId: string; once?: Once },
  make: () => Promise<Value>,
  repeat: (made: Made) => Promise<Value>,
): Promise<Value> => {
  if (once === undefined) return make();
  const first = await findFirst(parts, projectId, once);
  if (first !== undefined) return repeat(first);
  try {
    return await make();
  } catch (error) {
    if (!mayHaveMade(error)) throw error;
    const winner = await findFirst(parts, projectId, once);
    if (winner === undefined) throw error;
    return repeat(winner);
  }
};
