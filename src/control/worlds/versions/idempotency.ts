/**
 * Requests that make a version and may be sent again: what the first one of an `Idempotency-Key` made is what the others
 * get, also when they come together.
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

/** Absent without a key. */
export type Once = Creation | undefined;

/** The key of a request, with what it is for: the operation, the world in its path, the hash of its body. */
export const onceOf = (
  operation: string,
  headers: { 'idempotency-key'?: string | undefined } | undefined,
  hash: string | null,
): Once => {
  const key = headers?.['idempotency-key'];
  return key === undefined || hash === null ? undefined : { key, operation, hash };
};

/** What an earlier request of the key made; `conflict` when it asked for something else. */
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

/** What happens to the later of two requests that came together. */
const mayHaveMade = (error: unknown): boolean =>
  violates(error, creationConstraint) ||
  (error instanceof AppError && ['conflict', 'exhausted'].includes(error.code));

/** Makes something, unless an earlier request of the key did: then `repeat` has what that made. */
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
