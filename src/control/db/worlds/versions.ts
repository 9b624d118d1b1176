/** Versions of a world: lists, lookups by number or label, and the labels themselves. */
import { limits } from '#domain/limits.ts';
import type { Digest, GateState } from '#domain/world.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { type LatestTests, latestTestsOf } from './test-runs.ts';
import { gateOf } from './version-gates.ts';
import type { VersionRow } from './worlds.ts';

/** Facts of a version that may change: its labels, its last tests, and the state of its gate. */
export type VersionStatus = {
  labels: string[];
  tests: LatestTests | null;
  gate: GateState | null;
};

/** Version as lists show it, without its contents. */
export type ListedVersion = Pick<
  VersionRow,
  | 'id'
  | 'number'
  | 'state'
  | 'contentHash'
  | 'message'
  | 'author'
  | 'origin'
  | 'changes'
  | 'createdAt'
> &
  VersionStatus;

const labelsOf = (versionId: string): string =>
  `array(select l.label from version_labels l where l.version_id = ${versionId} order by l.label)`;

const listStatement = statement(
  'list_versions',
  `select id, number, state, content_hash as "contentHash", message, author, origin, changes,
          created_at as "createdAt", ${labelsOf('versions.id')} as labels,
          ${latestTestsOf('versions.id')} as tests, ${gateOf('versions.id')} as gate
     from versions where world_id = :worldId
    order by number desc limit :limit offset :offset`,
);

const countStatement = statement(
  'count_versions',
  'select count(*)::int as total from versions where world_id = $1',
);

/** Lists a page of a world's versions, newest first, and counts all versions. */
export const listVersions = async (
  db: Queryable,
  worldId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: ListedVersion[]; total: number }> => {
  const [rows, [count]] = await Promise.all([
    db.query<ListedVersion>(listStatement, { ...page, worldId }),
    db.query<{ total: number }>(countStatement, [worldId]),
  ]);
  return { rows, total: count?.total ?? 0 };
};

const byNumberStatement = statement(
  'find_version_by_number',
  'select id from versions where world_id = $1 and number = $2',
);

/** Returns the id of the version with this number in a world; undefined if there is none. */
export const findVersionByNumber = async (
  db: Queryable,
  worldId: string,
  number: number,
): Promise<string | undefined> =>
  (await db.query<{ id: string }>(byNumberStatement, [worldId, number]))[0]?.id;

const byLabelStatement = statement(
  'find_version_by_label',
  'select version_id as id from version_labels where world_id = $1 and label = $2',
);

/** Returns the id of the version with this label in a world; undefined if there is none. */
export const findVersionByLabel = async (
  db: Queryable,
  worldId: string,
  label: string,
): Promise<string | undefined> =>
  (await db.query<{ id: string }>(byLabelStatement, [worldId, label]))[0]?.id;

const statusStatement = statement(
  'find_version_status',
  `select ${labelsOf('$1')} as labels, ${latestTestsOf('$1')} as tests, ${gateOf('$1')} as gate`,
);

/** Returns those facts of a version that may change. */
export const findVersionStatus = async (db: Queryable, versionId: string): Promise<VersionStatus> =>
  (await db.query<VersionStatus>(statusStatement, [versionId]))[0] ?? {
    ...{ labels: [], tests: null, gate: null },
  };

const bytesStatement = statement(
  'find_version_bytes',
  'select coalesce(bytes, 0)::float8 as bytes from versions where id = $1',
);

/** Returns the number of bytes of a version that count for its project. */
export const findVersionBytes = async (db: Queryable, id: string): Promise<number> =>
  (await db.query<{ bytes: number }>(bytesStatement, [id]))[0]?.bytes ?? 0;

const heldStatement = statement(
  'find_held_blobs',
  `select blob from unnest($2::text[]) blob
    where exists (select from versions v where v.project_id = $1 and v.blobs @> array[blob])`,
);

/** Returns those of the given blobs that belong to versions of the project. */
export const findHeldBlobs = async (
  db: Queryable,
  projectId: string,
  digests: readonly Digest[],
): Promise<Set<Digest>> => {
  if (digests.length === 0) return new Set();
  const rows = await db.query<{ blob: Digest }>(heldStatement, [projectId, digests]);
  return new Set(rows.map(({ blob }) => blob));
};

// The world is locked while one of its labels is set, so that it never exceeds its limit of labels.
const lockWorldStatement = statement(
  'lock_world',
  'select id from worlds where id = $1 for update',
);

const setLabelStatement = statement(
  'set_label',
  `insert into version_labels (world_id, label, version_id)
   select :worldId, :label, :versionId
    where (select count(*) from version_labels where world_id = :worldId and label <> :label) < :most
   on conflict (world_id, label) do update set version_id = excluded.version_id, set_at = now()
   returning label`,
);

/** Moves a label to a version of a world. Returns false if the world has the maximum number of labels. */
export const setLabel = (
  db: Database,
  label: { worldId: string; label: string; versionId: string },
): Promise<boolean> =>
  db.transaction(async (tx) => {
    await tx.query(lockWorldStatement, [label.worldId]);
    const values = { ...label, most: limits.worldLabels };
    return (await tx.query(setLabelStatement, values)).length > 0;
  });

const removeLabelStatement = statement(
  'remove_label',
  'delete from version_labels where world_id = $1 and label = $2 returning label',
);

/** Removes a label. Returns false if the world has no such label. */
export const removeLabel = async (
  db: Queryable,
  worldId: string,
  label: string,
): Promise<boolean> => (await db.query(removeLabelStatement, [worldId, label])).length > 0;
