/**
 * Pushes and reads versions of context repositories. The latest version always has the label `latest`. Every other
 * label stays on a version until a client moves it; a label belongs to one version.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { cleanText } from '#observability/read-value.ts';
import type { ContextKind, PromptType } from '#wire/public-api/projects/context.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import {
  addVersion,
  type ContextRepo,
  type ContextVersion,
  contextLimits,
  countLabels,
  findRepo,
  findVersion,
  lockRepo,
  makeRepo,
  moveLabels,
} from '../../db/projects/context.ts';
import { findNamed, readName } from '../../platform/lists/names.ts';
import { invalidParameter } from '../../platform/lists/query.ts';

/** Version with its repository. */
export type Found = { repo: ContextRepo; version: ContextVersion };

/** Version to push. Content and config are JSON text. */
export type Push = {
  kind: ContextKind;
  name: string;
  promptType: PromptType | null;
  content: string;
  config: string;
  /** Tags of the repository; null leaves the present tags unchanged. */
  tags: string[] | null;
  labels: readonly string[];
  message: string | null;
  createdBy: string;
  /** Number of the latest version that the caller knows, to detect concurrent changes; null skips this check. */
  baseVersion: number | null;
};

const labelForm = /^[a-z0-9_.-]{1,36}$/;

/** Validates labels, and removes duplicates. Throws `invalid`. */
export const readLabels = (field: string, given: readonly string[]): string[] => {
  const wrong = given.find((label) => !labelForm.test(label));
  if (wrong !== undefined) {
    throw invalidParameter(field, 'must each have 1 to 36 of a-z, 0-9, "_", ".", "-"');
  }
  return [...new Set(given)];
};

/** Cleans tags, and removes duplicates. */
export const readTags = (given: readonly string[] | undefined): string[] | null =>
  given === undefined ? null : [...new Set(given.map(cleanText))];

/** Returns the id from which a repository's key is derived; cursors of lists use it, too. */
export const repoIdOf = ({ kind, name }: Pick<ContextRepo, 'kind' | 'name'>): string =>
  `context/${kind}/${name}`;

const full = (what: string, limit: number): AppError =>
  new AppError('exhausted', `the project has ${limit} ${what}, the maximum`, {
    detail: { limit },
  });

const makeOrLock = async (
  tx: Queryable,
  projectId: string,
  { kind, name, promptType }: Push,
): Promise<ContextRepo> => {
  const named = { projectId, kind, name };
  const known = await lockRepo(tx, named);
  if (known !== undefined) return known;
  const key = keyOf(projectId, repoIdOf({ kind, name }));
  const made = await makeRepo(tx, { ...named, key, promptType });
  // Another transaction may have created it meanwhile.
  const repo = made ?? (await lockRepo(tx, named));
  if (repo === undefined) throw full('context repositories', contextLimits.repos);
  return repo;
};

const checkPush = (repo: ContextRepo, { baseVersion, promptType }: Push): void => {
  const { name, lastVersion } = repo;
  if (baseVersion !== null && baseVersion !== lastVersion) {
    const message = `the latest version of "${name}" is ${lastVersion}, not ${baseVersion}; read it and push again`;
    throw new AppError('conflict', message, { detail: { latestVersion: lastVersion } });
  }
  if (repo.promptType !== promptType) {
    throw new AppError('invalid', `"${name}" is a ${repo.promptType} prompt, not ${promptType}`, {
      fields: [{ path: ['type'], message: `must be ${repo.promptType}, as in earlier versions` }],
    });
  }
  if (lastVersion >= contextLimits.versions) {
    throw full(`versions of "${name}"`, contextLimits.versions);
  }
};

/** Moves labels to a version. Throws `exhausted` if the repository would then have too many labels. */
export const assignLabels = async (
  tx: Queryable,
  { key, name }: ContextRepo,
  version: number,
  labels: readonly string[],
): Promise<void> => {
  await moveLabels(tx, { repoKey: key, version, labels });
  if ((await countLabels(tx, key)) > contextLimits.labels) {
    throw full(`labels of "${name}"`, contextLimits.labels);
  }
};

/** Pushes the next version. Throws `invalid`, `conflict`, `exhausted`. */
export const pushVersion = (db: Database, projectId: string, given: Push): Promise<Found> => {
  const push = { ...given, name: readName('name', given.name) };
  return db.transaction(async (tx) => {
    const repo = await makeOrLock(tx, projectId, push);
    checkPush(repo, push);
    const version = repo.lastVersion + 1;
    const { content, config, message, createdBy, tags } = push;
    const added = { version, id: newId('ctv'), content, config, message, createdBy, tags };
    await addVersion(tx, { ...added, repoKey: repo.key });
    await assignLabels(tx, repo, version, [...new Set([...push.labels, 'latest'])]);
    return getVersion(tx, projectId, push, { version });
  });
};

type Named = Pick<ContextRepo, 'kind' | 'name'>;

const nouns: Record<ContextKind, string> = {
  agents: 'Agent',
  prompts: 'Prompt',
  skills: 'Skill',
  memory: 'Memory',
};

export const noRepo = ({ kind, name }: Named): AppError =>
  new AppError('not_found', `${nouns[kind]} not found: '${name}'`);

/** Returns the repository with this name, which may be escaped as in an address; undefined if there is none. */
export const findNamedRepo = (
  db: Queryable,
  projectId: string,
  { kind, name }: Named,
): Promise<ContextRepo | undefined> =>
  findNamed(name, (each) => findRepo(db, { projectId, kind, name: each }));

/**
 * Returns a version by number or label, with its repository. Throws `not_found` with a message that names what is
 * missing.
 */
export const getVersion = async (
  db: Queryable,
  projectId: string,
  named: Named,
  at: { version: number } | { label: string },
): Promise<Found> => {
  const repo = await findNamedRepo(db, projectId, named);
  if (repo === undefined) throw noRepo(named);
  const version = await findVersion(db, repo.key, at);
  if (version !== undefined) return { repo, version };
  const what = 'version' in at ? `version ${at.version}` : `label '${at.label}'`;
  throw new AppError('not_found', `${nouns[named.kind]} not found: '${repo.name}' with ${what}`);
};
