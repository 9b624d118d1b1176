/** Worlds and their versions. A version never changes once it is written. */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { runLimits } from '#domain/run.ts';
import type { Digest, VersionLink, VersionOrigin, VersionState } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import type { VersionChanges } from '#wire/public-api/worlds/version.ts';
import type { ContractFacts, VersionTexts } from '../../base/contracts/contract-view.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { type Creation, insertCreation } from '../core/idempotency-keys.ts';
import type { NamedValues } from '../core/parameters.ts';
import { finishUpload } from '../projects/uploads.ts';
import { insertRun, type NewRun } from './test-runs.ts';
import { insertGate } from './version-gates.ts';
import { insertVersionLinks, linksColumn } from './version-links.ts';
import { fillVersion, insertVersionTexts } from './version-summaries.ts';

export type WorldRow = {
  id: string;
  slug: string;
  kind: string;
  name: string;
  description: string | null;
  headVersionId: string;
  createdAt: Date;
  /** Time at which the world was archived; null if it is not archived. */
  archivedAt: Date | null;
};

/** File of a version's tree. Its bytes are the blob with that digest. */
export type ManifestFile = { path: string; sizeBytes: number; sha256: Digest };

export type VersionRow = {
  id: string;
  worldId: string;
  projectId: string;
  slug: string;
  number: number;
  state: VersionState;
  contentHash: string;
  message: string | null;
  /** Public key of the version's author; null in versions of an earlier release. */
  author: string | null;
  origin: VersionOrigin;
  changes: VersionChanges | null;
  contract: Contract;
  files: ManifestFile[];
  entityCounts: Record<string, number>;
  /**
   * Number of rows of each entity that came from the tree; they are the first rows of the entity. Null if not recorded.
   */
  treeRows: Record<string, number> | null;
  /** Links of the version to versions of other worlds, in the order of the manifest. */
  links: VersionLink[];
  /** Entities whose rows an import has replaced. A push does not add the rows of these entities from the tree again. */
  replaced: string[];
  /** Warnings of the world language about likely mistakes. */
  warnings: string[];
  bundle: Digest;
  snapshot: Digest;
  createdAt: Date;
};

export type NewWorld = Pick<WorldRow, 'id' | 'slug' | 'kind' | 'name' | 'description'> & {
  projectId: string;
};
export type NewVersion = Omit<
  VersionRow,
  'slug' | 'worldId' | 'projectId' | 'number' | 'createdAt' | 'state' | 'contract'
> & {
  contractJson: string;
  texts: VersionTexts;
  facts: ContractFacts;
  /** All blobs of the version, each once. */
  blobs: readonly Digest[];
  /** Total size of the blobs and the texts of the version, in bytes. */
  bytes: number;
};

/** Unique constraint that a second world with the same slug violates. */
export const worldSlugConstraint = 'worlds_project_id_slug_key';

const insertWorldStatement = statement(
  'insert_world',
  `insert into worlds (id, project_id, slug, kind, name, description, head_version_id)
   values (:id, :projectId, :slug, :kind, :name, :description, :headVersionId)`,
);

/**
 * Returns the SQL for the number of a world's next version. Versions that never became the head are counted, too. The
 * caller must have locked the world.
 */
export const nextNumber = (worldId: string): string =>
  `(select coalesce(max(n.number), 0) + 1 from versions n where n.world_id = ${worldId})`;

const insertVersionStatement = statement(
  'insert_version',
  `insert into versions (id, world_id, project_id, number, state, content_hash, message, contract,
                         files, entity_counts, bundle, snapshot, warnings, blobs, bytes,
                         has_api, has_ui, has_routes, tool_count, task_count, origin, author, changes, tree_rows, replaced_entities)
   values (:id, :worldId, :projectId, ${nextNumber(':worldId')}, 'READY', :contentHash, :message, :contractJson, :files, :entityCounts, :bundle, :snapshot, :warnings, :blobs, :bytes, :hasApi, :hasUi, :hasRoutes, :toolCount, :taskCount,
           :origin, :author, :changes, :treeRows, :replaced)`,
);

const finish = async (tx: Queryable, { slug }: NewWorld, uploadId: string): Promise<void> => {
  if (await finishUpload(tx, uploadId)) return;
  throw new AppError('timeout', `storing world "${slug}" took too long; send it again`);
};

const insertVersion = async (
  tx: Queryable,
  world: NewWorld,
  version: NewVersion,
): Promise<void> => {
  await tx.query(insertVersionStatement, {
    ...version,
    ...version.facts,
    worldId: world.id,
    projectId: world.projectId,
    files: JSON.stringify(version.files),
    entityCounts: JSON.stringify(version.entityCounts),
    changes: JSON.stringify(version.changes),
    treeRows: JSON.stringify(version.treeRows),
    warnings: JSON.stringify(version.warnings),
  });
  await insertVersionTexts(tx, version.id, version.texts);
  await insertVersionLinks(tx, version.id, version.links);
};

/**
 * Parts of the request that creates a version: its `Idempotency-Key` with the rest of its answer, tests to run, and a
 * gate.
 */
export type VersionRequest = {
  once: Creation | undefined;
  detail?: unknown;
  /** Run of the version's tests, which is queued when the version is written; undefined if the tests are not run. */
  tests?: NewRun | undefined;
  /**
   * Version on which the new one is based, if the new one becomes the head only when its tests pass. Undefined if it
   * becomes the head at once.
   */
  gate?: { madeFrom: string } | undefined;
};

const noteCreation = async (
  tx: Queryable,
  { projectId }: NewWorld,
  { id: versionId }: NewVersion,
  { once, detail = null }: VersionRequest,
): Promise<void> => {
  if (once !== undefined) await insertCreation(tx, { ...once, projectId, versionId, detail });
};

/**
 * Error message of a test run that exceeds the maximum number of queued runs. The run is written with this error, so
 * that the push does not fail.
 */
const noRoomForTests = `${runLimits.queued} runs of the project were already queued when the version was pushed, the maximum: start the tests of the version later`;

const haveTestsRun = async (tx: Queryable, { tests }: VersionRequest): Promise<void> => {
  if (tests !== undefined) await insertRun(tx, tests, noRoomForTests);
};

/**
 * Inserts a world with its first version, which is the world's head, and ends the upload of the version's blobs. Throws
 * `timeout` if the upload took so long that the blobs may have been garbage-collected.
 */
export const insertWorld = (
  db: Database,
  world: NewWorld,
  version: NewVersion,
  uploadId: string,
  askedBy: VersionRequest = { once: undefined },
): Promise<void> =>
  db.transaction(async (tx) => {
    await finish(tx, world, uploadId);
    await tx.query(insertWorldStatement, { ...world, headVersionId: version.id });
    await insertVersion(tx, world, version);
    await noteCreation(tx, world, version, askedBy);
  });

const nextVersionStatement = statement(
  'replace_head',
  `update worlds set head_version_id = :versionId, name = :name, description = :description
    where id = :id and head_version_id = :base and deleted_at is null and archived_at is null
   returning id`,
);

const holdHeadStatement = statement(
  'hold_head',
  `select id from worlds
    where id = :id and head_version_id = :base and deleted_at is null and archived_at is null
      for no key update`,
);

/**
 * Inserts the next version of a world. It replaces the head `base`, or waits at a gate to do so. If `base` is no longer
 * the head, writes nothing and returns false. Throws `timeout` in the case of `insertWorld`.
 */
export const insertNextVersion = (
  db: Database,
  world: NewWorld & { base: string },
  version: NewVersion,
  uploadId: string,
  askedBy: VersionRequest = { once: undefined },
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const { gate } = askedBy;
    const next = { ...world, versionId: version.id };
    const take = gate === undefined ? nextVersionStatement : holdHeadStatement;
    if ((await tx.query(take, next)).length === 0) return false;
    await finish(tx, world, uploadId);
    await insertVersion(tx, world, version);
    if (gate !== undefined) {
      const { id: worldId, name } = world;
      await insertGate(tx, { ...gate, versionId: version.id, worldId, name });
    }
    await noteCreation(tx, world, version, askedBy);
    await haveTestsRun(tx, askedBy);
    return true;
  });

const worldColumns = `id, slug, kind, name, description, head_version_id as "headVersionId",
  created_at as "createdAt", archived_at as "archivedAt"`;

const findWorldStatement = statement(
  'find_world',
  `select ${worldColumns} from worlds where project_id = $1 and slug = $2`,
);

const findWorldByIdStatement = statement(
  'find_world_by_id',
  `select ${worldColumns} from worlds where project_id = $1 and id = $2 and deleted_at is null`,
);

/** Returns the world with this id in a project; undefined if there is none. */
export const findWorldById = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<WorldRow | undefined> =>
  (await db.query<WorldRow>(findWorldByIdStatement, [projectId, id]))[0];

export const findWorld = async (
  db: Queryable,
  projectId: string,
  slug: string,
): Promise<WorldRow | undefined> =>
  (await db.query<WorldRow>(findWorldStatement, [projectId, slug]))[0];

/** World as lists show it, with the facts of its head version, which are read without its contract. */
export type ListedWorld = WorldRow &
  ContractFacts & {
    head: Pick<
      VersionRow,
      'id' | 'number' | 'state' | 'contentHash' | 'message' | 'author' | 'origin'
    >;
    headCreatedAt: Date;
    /** Number of rows by entity, as JSON text; null if it did not fit on the page. */
    entityCounts: string | null;
  };

// The window has the order of the page, and sums up the only column that can be large.
const listWorldsStatement = statement(
  'list_worlds',
  `with page as (
     select * from worlds
      where project_id = :projectId and deleted_at is null and (archived_at is not null) = :archived
      order by created_at desc, id desc limit :limit offset :offset
   ), filled as (
     select p.*, v.number, v.state, v.content_hash, v.message, v.author, v.origin, v.entity_counts::text as counts,
            v.created_at as version_created_at, v.has_api, v.has_ui, v.has_routes, v.tool_count, v.task_count,
            row_number() over newest = 1
              or sum(octet_length(v.entity_counts::text)) over newest <= :mostBytes::bigint as whole
       from page p join versions v on v.id = p.head_version_id
     window newest as (order by p.created_at desc, p.id desc)
   )
   select ${worldColumns}, has_api as "hasApi", has_ui as "hasUi", has_routes as "hasRoutes", tool_count as "toolCount", task_count as "taskCount",
          json_build_object('id', head_version_id, 'number', number, 'state', state,
            'contentHash', content_hash, 'message', message, 'author', author, 'origin', origin) as head,
          version_created_at as "headCreatedAt", case when whole then counts end as "entityCounts"
     from filled order by created_at desc, id desc`,
);

const countWorldsStatement = statement(
  'count_worlds',
  `select count(*)::int as total from worlds
    where project_id = $1 and deleted_at is null and (archived_at is not null) = $2`,
);

type UnfilledWorld = Omit<ListedWorld, 'hasApi' | 'hasUi' | 'hasRoutes'> & {
  hasApi: boolean | null;
  hasUi: boolean | null;
  hasRoutes: boolean | null;
};

const isFilled = (row: UnfilledWorld): row is ListedWorld =>
  row.hasApi !== null && row.hasUi !== null && row.hasRoutes !== null;

/** Reads the rows of a page. If the facts of a version are not stored yet, computes and stores them first. */
const readWorlds = async (db: Queryable, values: NamedValues): Promise<ListedWorld[]> => {
  const rows = await db.query<UnfilledWorld>(listWorldsStatement, values);
  if (rows.every(isFilled)) return rows;
  for (const row of rows) if (!isFilled(row)) await fillVersion(db, row.headVersionId);
  return (await db.query<UnfilledWorld>(listWorldsStatement, values)).filter(isFilled);
};

/** Lists a page of the project's worlds, newest first, and counts all worlds. */
export const listWorlds = async (
  db: Queryable,
  projectId: string,
  page: { limit: number; offset: number; archived: boolean },
): Promise<{ rows: ListedWorld[]; total: number }> => {
  const values = { ...page, projectId, mostBytes: limits.pageBytes };
  const [rows, [count]] = await Promise.all([
    readWorlds(db, values),
    db.query<{ total: number }>(countWorldsStatement, [projectId, page.archived]),
  ]);
  return { rows, total: count?.total ?? 0 };
};

const listSlugsStatement = statement(
  'list_slugs',
  `select slug from worlds where project_id = $1 and deleted_at is null
    order by created_at desc, id desc limit 1000`,
);

/** Lists the slugs of the project's 1,000 newest worlds, newest first. */
export const listSlugs = async (db: Queryable, projectId: string): Promise<string[]> =>
  (await db.query<{ slug: string }>(listSlugsStatement, [projectId])).map(({ slug }) => slug);

const findVersionStatement = statement(
  'find_version',
  `select v.id, v.world_id as "worldId", v.project_id as "projectId", coalesce(w.former_slug, w.slug) as slug, v.number, v.state,
          v.content_hash as "contentHash", v.message, v.author, v.origin, v.changes, v.contract, v.files,
          v.entity_counts as "entityCounts", v.bundle, v.snapshot, v.created_at as "createdAt",
          coalesce(v.warnings, '[]') as warnings, v.tree_rows as "treeRows", v.replaced_entities as replaced,
          ${linksColumn} as links,
          octet_length(v.contract::text) + octet_length(v.files::text) as "jsonChars"
     from versions v join worlds w on w.id = v.world_id
    where v.id = $1`,
);

/** Version, and the length of its contract and its list of files as JSON, in characters. */
export type SizedVersionRow = VersionRow & { jsonChars: number };

/** Returns the version with this id. It may be of any project. Returns undefined if there is none. */
export const findVersion = async (
  db: Queryable,
  id: string,
): Promise<SizedVersionRow | undefined> =>
  (await db.query<SizedVersionRow>(findVersionStatement, [id]))[0];
