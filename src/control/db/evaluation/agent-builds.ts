/** Builds of agents: their manifests, and lookups by id, hash, label, version or commit. */
import { type Queryable, replannedStatement, statement } from '../core/database.ts';
import { type Count, type NumberedPage, numberedValues, type Read, toRead } from '../core/lists.ts';
import { countUpTo } from '../core/where.ts';

export type BuildRow = {
  id: string;
  projectId: string;
  agentId: string;
  buildHash: string;
  semanticVer: string | null;
  /** JSON objects as text. */
  manifestJson: string;
  attributionJson: string;
  commitSha: string | null;
  branch: string | null;
  /** Number in the order of registration within the project: a higher number is later. It has no other meaning. */
  number: number;
  /** Labels that point to the build, sorted. */
  labels: string[];
  createdAt: Date;
};

/** Build to be registered. */
export type NewBuild = Omit<BuildRow, 'number' | 'labels' | 'createdAt'>;

const columnsWith = (manifest: string): string =>
  `b.id, b.project_id as "projectId", b.agent_id as "agentId", b.build_hash as "buildHash",
   b.semantic_ver as "semanticVer", ${manifest} as "manifestJson", b.attribution as "attributionJson",
   b.commit_sha as "commitSha", b.branch, b.number::float8 as number, b.created_at as "createdAt",
   array(select l.label from agent_labels l where l.build_id = b.id order by l.label) as labels`;
const columns = columnsWith('b.manifest');

const insertStatement = statement(
  'insert_agent_build',
  `insert into agent_builds (id, project_id, agent_id, build_hash, semantic_ver, manifest, attribution, commit_sha, branch)
   values (:id, :projectId, :agentId, :buildHash, :semanticVer, :manifestJson, :attributionJson, :commitSha, :branch)
   on conflict (project_id, build_hash) do nothing`,
);

const findByHashStatement = statement(
  'find_agent_build_by_hash',
  `select ${columns} from agent_builds b where b.project_id = $1 and b.build_hash = $2`,
);

const first = async (rows: Promise<BuildRow[]>): Promise<BuildRow | undefined> => (await rows)[0];

/**
 * Inserts the build, unless the project has one with the same hash, and returns the stored build. The caller compares
 * the `id` to find out whether this build was inserted.
 */
export const registerBuild = async (db: Queryable, build: NewBuild): Promise<BuildRow> => {
  await db.query(insertStatement, build);
  const found = await findBuildByHash(db, build.projectId, build.buildHash);
  if (found === undefined)
    throw new Error(`the database returned no row for the inserted build ${build.id}`);
  return found;
};

/** Returns the build with this hash. */
export const findBuildByHash = (db: Queryable, projectId: string, buildHash: string) =>
  first(db.query<BuildRow>(findByHashStatement, [projectId, buildHash]));

const findStatement = statement(
  'find_agent_build',
  `select ${columns} from agent_builds b where b.project_id = $1 and b.id = $2`,
);

/** Returns the build with this id. */
export const findBuild = (db: Queryable, projectId: string, id: string) =>
  first(db.query<BuildRow>(findStatement, [projectId, id]));

const hasStatement = statement(
  'has_agent_build',
  'select from agent_builds where project_id = $1 and build_hash = $2',
);

/** Returns true if the project has a build with this hash. */
export const hasBuild = async (
  db: Queryable,
  projectId: string,
  buildHash: string,
): Promise<boolean> => (await db.query(hasStatement, [projectId, buildHash])).length > 0;

const findByLabelStatement = statement(
  'find_agent_build_by_label',
  `select ${columns} from agent_labels l join agent_builds b on b.id = l.build_id
    where l.project_id = :projectId and l.agent_id = :agentId and l.label = :label`,
);

/** Returns the build to which a label of an agent points; undefined if the agent has no such label. */
export const findBuildByLabel = (
  db: Queryable,
  projectId: string,
  agentId: string,
  label: string,
): Promise<BuildRow | undefined> =>
  first(db.query<BuildRow>(findByLabelStatement, { projectId, agentId, label }));

const findByVersionStatement = statement(
  'find_agent_build_by_version',
  `select ${columns} from agent_builds b
    where b.project_id = :projectId and b.agent_id = :agentId and b.semantic_ver = :version
    order by b.number desc limit 1`,
);

/** Returns the newest build with this version of an agent; undefined if there is none. */
export const findBuildByVersion = (
  db: Queryable,
  projectId: string,
  agentId: string,
  version: string,
): Promise<BuildRow | undefined> =>
  first(db.query<BuildRow>(findByVersionStatement, { projectId, agentId, version }));

const findAnyStatement = statement(
  'find_any_agent_build',
  `select ${columns} from agent_builds b
    where b.project_id = :projectId and (:agentId::text is null or b.agent_id = :agentId) and b.id = (
      select id from (
        select id, 1 as rank, number from agent_builds where project_id = :projectId and id = :named
        union all
        select id, 2, number from agent_builds where project_id = :projectId and build_hash = :named
        union all
        select build_id, 3, 0 from agent_labels
         where project_id = :projectId and agent_id = :agentId and label = :named
        union all
        select id, 4, number from agent_builds
         where project_id = :projectId and agent_id = :agentId and semantic_ver = :named
      ) found order by rank, number desc limit 1)`,
);

/**
 * Returns the build of an agent by its id, hash, label or version, tried in this order. Without an agent, only id and
 * hash are tried. Returns undefined if there is none.
 */
export const findAnyBuild = (
  db: Queryable,
  projectId: string,
  agentId: string | null,
  named: string,
): Promise<BuildRow | undefined> =>
  first(db.query<BuildRow>(findAnyStatement, { projectId, agentId, named }));

const commitsStatement = statement(
  'find_commits_of_agent_builds',
  `select distinct commit_sha as sha from agent_builds
    where project_id = :projectId and commit_sha like :prefix || '%' limit 20`,
);
const newestOfCommitStatement = statement(
  'find_agent_build_of_commit',
  `select ${columns} from agent_builds b
    where b.project_id = :projectId and b.commit_sha = :sha order by b.number desc limit 1`,
);

/**
 * Returns up to twenty commits that builds were made from and whose SHA begins with `prefix`, which must consist of
 * hexadecimal digits.
 */
export const findCommits = async (
  db: Queryable,
  projectId: string,
  prefix: string,
): Promise<string[]> =>
  (await db.query<{ sha: string }>(commitsStatement, { projectId, prefix })).map(({ sha }) => sha);

/** Returns the newest build that was made from this commit. */
export const findBuildOfCommit = (db: Queryable, projectId: string, sha: string) =>
  first(db.query<BuildRow>(newestOfCommitStatement, { projectId, sha }));

/** Declares a statement that lists builds, of all agents or of one. */
const listStatement = (name: string, where: string) =>
  replannedStatement(
    name,
    `select ${columnsWith("'{}'")} from agent_builds b
      where b.project_id = :projectId and b.number < :fromNumber::bigint and ${where}
      order by b.number desc limit :limit offset :offset`,
  );
export const listBuildsStatement = listStatement('list_agent_builds', 'true');
export const listBuildsOfAgentStatement = listStatement(
  'list_builds_of_agent',
  'b.agent_id = :agentId',
);

/** Lists a page of builds without their manifests, newest first, and counts the matching builds. */
export const listBuilds = async (
  db: Queryable,
  projectId: string,
  agentId: string | undefined,
  page: NumberedPage,
): Promise<Read<BuildRow> & { count: Count }> => {
  const values = { projectId, ...numberedValues(page) };
  const isAll = agentId === undefined;
  const [rows, count] = await Promise.all([
    isAll
      ? db.query<BuildRow>(listBuildsStatement, values)
      : db.query<BuildRow>(listBuildsOfAgentStatement, { ...values, agentId }),
    countUpTo(db, 'count_agent_builds', 'agent_builds', [
      (bind) => `project_id = ${bind(projectId)}`,
      ...(isAll ? [] : [(bind: (value: unknown) => string) => `agent_id = ${bind(agentId)}`]),
    ]),
  ]);
  return { ...toRead(rows, page.limit), count };
};
