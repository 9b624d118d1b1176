/** Context repositories (agents, prompts, skills and memory) by kind and name, with their versions. */
import type { ContextKind, PromptType } from '#wire/public-api/projects/context.ts';
import { type Queryable, statement } from '../core/database.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, countUpTo, listPage } from '../core/where.ts';

export type ContextRepo = {
  key: string;
  projectId: string;
  kind: ContextKind;
  name: string;
  /** Type of a prompt; null for all other kinds. */
  promptType: PromptType | null;
  tags: string[];
  lastVersion: number;
  createdAt: Date;
  updatedAt: Date;
};

/**
 * Version of a repository. Content and config are JSON text. The labels are the current ones, in the order in which
 * they were added.
 */
export type ContextVersion = {
  version: number;
  id: string;
  content: string;
  config: string;
  message: string | null;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
  labels: string[];
};

const repoColumns = `r.key, r.project_id as "projectId", r.kind, r.name, r.prompt_type as "promptType", r.tags,
  r.last_version as "lastVersion", r.created_at as "createdAt", r.updated_at as "updatedAt"`;

const versionColumns = `v.version, v.id, v.content, v.config, v.message, v.created_by as "createdBy",
  v.created_at as "createdAt", v.updated_at as "updatedAt",
  array(select l.label from context_labels l
         where l.repo_key = v.repo_key and l.version = v.version order by l.place) as labels`;

/** Maximum numbers: of repositories of one project, and of versions and labels of one repository. */
export const contextLimits = { repos: 10_000, versions: 10_000, labels: 100 } as const;

type RepoName = { projectId: string; kind: ContextKind; name: string };

const findStatement = statement(
  'find_context_repo',
  `select ${repoColumns} from context_repos r
    where r.project_id = :projectId and r.kind = :kind and r.name = :name`,
);

export const findRepo = async (db: Queryable, name: RepoName): Promise<ContextRepo | undefined> =>
  (await db.query<ContextRepo>(findStatement, name))[0];

const lockStatement = statement(
  'lock_context_repo',
  `select ${repoColumns} from context_repos r
    where r.project_id = :projectId and r.kind = :kind and r.name = :name for update`,
);

/**
 * Locks the repository and returns it; undefined if it does not exist. Other transactions cannot write to it until this
 * transaction ends.
 */
export const lockRepo = async (tx: Queryable, name: RepoName): Promise<ContextRepo | undefined> =>
  (await tx.query<ContextRepo>(lockStatement, name))[0];

const makeStatement = statement(
  'make_context_repo',
  `insert into context_repos as r (key, project_id, kind, name, prompt_type, last_version)
   select :key, :projectId, :kind, :name, :promptType, 0
    where (select count(*) from context_repos where project_id = :projectId) < ${contextLimits.repos}
   on conflict on constraint context_repos_name do nothing returning ${repoColumns}`,
);

/**
 * Inserts a repository without versions. Returns undefined if it exists already, or the project has the maximum number.
 */
export const makeRepo = async (
  tx: Queryable,
  repo: RepoName & { key: string; promptType: PromptType | null },
): Promise<ContextRepo | undefined> => (await tx.query<ContextRepo>(makeStatement, repo))[0];

const addStatement = statement(
  'add_context_version',
  `with changed as (
     update context_repos set last_version = :version, tags = coalesce(:tags::text[], tags),
            updated_at = date_trunc('milliseconds', now())
      where key = :repoKey returning key)
   insert into context_versions (repo_key, version, id, content, config, message, created_by)
   select key, :version, :id, :content, :config, :message, :createdBy from changed`,
);

export type NewVersion = Pick<
  ContextVersion,
  'version' | 'id' | 'content' | 'config' | 'message' | 'createdBy'
> & {
  repoKey: string;
  /** New tags of the repository; null if the tags stay unchanged. */
  tags: string[] | null;
};

export const addVersion = async (tx: Queryable, version: NewVersion): Promise<void> => {
  await tx.query(addStatement, version);
};

const touchStatement = statement(
  'touch_context_version',
  `update context_versions set updated_at = date_trunc('milliseconds', now())
    where repo_key = $1 and version = $2`,
);
const labelStatement = statement(
  'move_context_labels',
  `insert into context_labels (repo_key, label, version)
   select :repoKey, label, :version from unnest(:labels::text[]) with ordinality as given (label, at) order by at
   on conflict (repo_key, label) do update
      set version = excluded.version,
          place = case when context_labels.version = excluded.version then context_labels.place else excluded.place end`,
);

/** Moves labels to a version. The versions that had the labels lose them. */
export const moveLabels = async (
  tx: Queryable,
  given: { repoKey: string; version: number; labels: readonly string[] },
): Promise<void> => {
  await tx.query(labelStatement, { ...given, labels: [...given.labels] });
  await tx.query(touchStatement, [given.repoKey, given.version]);
};

const countLabelsStatement = statement(
  'count_context_labels',
  'select count(*)::int as count from context_labels where repo_key = $1',
);

export const countLabels = async (tx: Queryable, repoKey: string): Promise<number> =>
  (await tx.query<{ count: number }>(countLabelsStatement, [repoKey]))[0]?.count ?? 0;

const versionStatement = statement(
  'find_context_version',
  `select ${versionColumns} from context_versions v where v.repo_key = $1 and v.version = $2`,
);
const labelledStatement = statement(
  'find_context_version_by_label',
  `select ${versionColumns} from context_versions v
     join context_labels named on named.repo_key = v.repo_key and named.version = v.version
    where named.repo_key = $1 and named.label = $2`,
);

/** Returns the version with a number, or the version that has a label; undefined if there is none. */
export const findVersion = async (
  db: Queryable,
  repoKey: string,
  at: { version: number } | { label: string },
): Promise<ContextVersion | undefined> =>
  'version' in at
    ? (await db.query<ContextVersion>(versionStatement, [repoKey, at.version]))[0]
    : (await db.query<ContextVersion>(labelledStatement, [repoKey, at.label]))[0];

/**
 * Repository as lists show it, with the numbers of all its versions, its labels, and the config of its latest version.
 */
export type ListedRepo = ContextRepo & {
  versions: number[];
  labels: { label: string; version: number }[];
  lastConfig: string;
};

const listedColumns = `${repoColumns},
  array(select v.version from context_versions v where v.repo_key = r.key order by v.version) as versions,
  coalesce((select json_agg(json_build_object('label', l.label, 'version', l.version) order by l.label)
              from context_labels l where l.repo_key = r.key), '[]') as labels,
  coalesce((select v.config from context_versions v where v.repo_key = r.key
             order by v.version desc limit 1), '{}') as "lastConfig"`;

/** Lists a page of repositories, newest first. Conditions refer to the repository as `r`. */
export const listRepos = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<ListedRepo[]> =>
  listPage<ListedRepo>(
    db,
    {
      name: 'list_context_repos',
      columns: listedColumns,
      from: 'context_repos r',
      order: 'r.created_at desc, r.key desc',
    },
    conditions,
    page,
  );

export const countRepos = (db: Queryable, conditions: readonly Condition[]): Promise<Count> =>
  countUpTo(db, 'count_context_repos', 'context_repos r', conditions);

/** Builds the condition that a version of the repository has the label. */
export const hasLabel =
  (label: string): Condition =>
  (bind) =>
    `exists (select from context_labels l where l.repo_key = r.key and l.label = ${bind(label)})`;

const deleteStatement = statement(
  'delete_context_repo',
  `delete from context_repos r where r.project_id = :projectId and r.kind = :kind and r.name = :name
   returning (select count(*)::int from context_versions v where v.repo_key = r.key) as versions`,
);

/** Deletes a repository. Returns the number of versions that it had; undefined if it did not exist. */
export const deleteRepo = async (db: Queryable, name: RepoName): Promise<number | undefined> =>
  (await db.query<{ versions: number }>(deleteStatement, name))[0]?.versions;

const deleteVersionStatement = statement(
  'delete_context_version',
  'delete from context_versions where repo_key = $1 and version = $2 returning version',
);
const latestStatement = statement(
  'find_latest_context_version',
  'select max(version) as version from context_versions where repo_key = $1',
);

/** Deletes a version. Returns the highest number among the remaining versions; null if none remains. */
export const deleteVersion = async (
  tx: Queryable,
  repoKey: string,
  version: number,
): Promise<number | null> => {
  await tx.query(deleteVersionStatement, [repoKey, version]);
  return (
    (await tx.query<{ version: number | null }>(latestStatement, [repoKey]))[0]?.version ?? null
  );
};
