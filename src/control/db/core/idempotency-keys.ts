/**
 * Idempotency of requests that create a version. If a request has an `Idempotency-Key`, the object that it created is
 * recorded under the key. The record is written in the transaction that creates the version, so a key never refers to a
 * version that does not exist.
 */
import { type Queryable, statement } from './database.ts';

/** `Idempotency-Key`, with the operation and the request that it was sent with. */
export type Creation = {
  key: string;
  operation: string;
  /** Hash of the whole request. */
  hash: string;
};

/** Object that the first request with a key created; `detail` has the rest of the answer to that request. */
export type Made = {
  operation: string;
  hash: string;
  worldId: string;
  versionId: string;
  detail: unknown;
};

/** Constraint that the second of two concurrent requests with the same key violates. */
export const creationConstraint = 'creations_pkey';

const insertStatement = statement(
  'insert_creation',
  `insert into creations (project_id, key, operation, request_hash, version_id, detail)
   values (:projectId, :key, :operation, :hash, :versionId, :detail)`,
);

/** Records what the request with a key created. */
export const insertCreation = async (
  tx: Queryable,
  made: Creation & { projectId: string; versionId: string; detail: unknown },
): Promise<void> => {
  await tx.query(insertStatement, { ...made, detail: JSON.stringify(made.detail) });
};

const findStatement = statement(
  'find_creation',
  `select c.operation, c.request_hash as hash, v.world_id as "worldId", c.version_id as "versionId", c.detail
     from creations c join versions v on v.id = c.version_id
    where c.project_id = $1 and c.key = $2`,
);

/** Returns what a request with this key created in the project; undefined if the key is unused. */
export const findCreation = async (
  db: Queryable,
  projectId: string,
  key: string,
): Promise<Made | undefined> => (await db.query<Made>(findStatement, [projectId, key]))[0];
