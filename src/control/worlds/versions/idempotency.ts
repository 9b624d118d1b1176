/**
 * Handles repeated requests that create a version: all requests with the same `Idempotency-Key` get the result of the
 * first, also if they run concurrently.
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

/** Undefined without a key. */
export type Once = Creation | undefined;

/** Returns the key of a request with its purpose: the operation, the world in its path, the hash of its body. */
export const onceOf = (
  operation: string,
  headers: { 'idempotency-key'?: string | undefined } | undefined,
  hash: string | null,
): Once => {
  const key = headers?.['idempotency-key'];
  return key === undefined || hash === null ? undefined : { key, operation, hash };
};

/** Returns what an earlier request with the key created; throws `conflict` if that request was a different one. */
const findFirst = async (
  { db }: Pick<WorldParts, 'db'>,
  projectId: string,
  once: Creation,
): Promise<Made | undefined> => {
  const made = await findCreation(db, projectId, once.key);
  if (made === undefined) return undefined;
  if (made.operation === once.operation && made.hash === once.hash) return made;
  throw new AppError('conflict', `this Idempotency-Key made ${made.versionId} by another request`);
};

/** Returns true if the error may be caused by a concurrent request with the same key. */
const mayHaveMade = (error: unknown): boolean =>
  violates(error, creationConstraint) ||
  (error instanceof AppError && ['conflict', 'exhausted'].includes(error.code));

/** Runs `make`, unless an earlier request with the key did; then `repeat` gets the result of that one. */
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
