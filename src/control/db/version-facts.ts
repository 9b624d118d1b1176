/**
 * What is known of a version without reading its contract. The program writes it with the version; of a
 * version that a release before this one wrote, it is found out here, one version after another, so that an
 * upgrade waits for none of them.
 */
import type { Digest } from '#domain/world.ts';
import { factsOf } from '../contracts/contract-view.ts';
import { type Queryable, statement } from './database.ts';

const readStatement = statement(
  'read_unfilled_version',
  'select contract, files, bundle, snapshot from versions where id = $1 and blobs is null',
);

const fillStatement = statement(
  'fill_version',
  `update versions set has_api = :hasApi, tool_count = :toolCount, task_count = :taskCount, blobs = :blobs, bytes = :bytes
    where id = :id and blobs is null`,
);

type Unfilled = {
  contract: Parameters<typeof factsOf>[0];
  files: { sizeBytes: number; sha256: Digest }[];
  bundle: Digest;
  snapshot: Digest;
};

/** Finds out what is known of a version, if that is not written yet. */
export const fillVersion = async (db: Queryable, id: string): Promise<void> => {
  const [found] = await db.query<Unfilled>(readStatement, [id]);
  if (found === undefined) return;
  const digests = new Set([
    ...found.files.map((file) => file.sha256),
    found.bundle,
    found.snapshot,
  ]);
  const bytes = found.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const facts = factsOf(found.contract);
  await db.query(fillStatement, { id, ...facts, blobs: [...digests], bytes });
};

/** Versions that are filled in one go. */
const most = 50;

const unfilledStatement = statement(
  'find_unfilled_versions',
  `select id from versions where blobs is null order by id limit ${most}`,
);

/** Fills some versions. One where it fails keeps no other waiting; it throws the first failure then. */
export const fillVersions = async (db: Queryable): Promise<void> => {
  const rows = await db.query<{ id: string }>(unfilledStatement, []);
  const failures: unknown[] = [];
  for (const { id } of rows) {
    await fillVersion(db, id).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
};
