/**
 * What requests with an `Idempotency-Key` made. It is written in the transaction that makes it, so that a key stands for
 * what is there, or for nothing.
 */
import { type Queryable, statement } from './database.ts';

/** A key, with what it was given for. */
export type Creation = {
  key: string;
  operation: string;
  /** Of the whole request. */
  hash: string;
};

/** What a key made; `detail` is what else its answer told. */
export type Made = {
  operation: string;
  hash: string;
  worldId: string;
  versionId: string;
  detail: unknown;
};

/** What a second request of the same key breaks, when the first is done meanwhile. */
export const creationConstraint = 'creations_pkey';

const insertStatement = statement(
  'insert_creation',
  `insert into creations (project_id, key, operation, request_hash, version_id, detail)
   values (:projectId, :key, :operation, :hash, :versionId, :detail)`,
);

/** Writes what a key made. */
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

/** What a key of a project made. */
export const findCreation = async (
  db: Queryable,
  projectId: string,
  key: string,
): Promise<Made | undefined> => (await db.query<Made>(findStatement, [projectId, key]))[0];
