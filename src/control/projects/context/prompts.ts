/**
 * Prompts, which are stored as context repositories. They are pushed, labelled, fetched and deleted in the form of the
 * established SDKs.
 */
import { AppError } from '#domain/error.ts';
import type { ContextKind, PromptView } from '#wire/public-api/projects/context.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  deleteRepo,
  deleteVersion,
  findVersion,
  type ListedRepo,
  lockRepo,
} from '../../db/projects/context.ts';
import { readName } from '../../platform/lists/names.ts';
import { invalidParameter, type RawQuery, textIn } from '../../platform/lists/query.ts';
import { mapTexts, namedTwice, type PromptPart, partMark, partsOf } from './prompt-form.ts';
import {
  assignLabels,
  type Found,
  findNamedRepo,
  getVersion,
  noRepo,
  type Push,
  pushVersion,
  readLabels,
} from './versions.ts';

const kind = 'prompts' satisfies ContextKind;

/**
 * Returns the version or label that a query names, or `usual` if it names neither. Throws `invalid` if it names both.
 */
export const versionIn = <Usual>(query: RawQuery, usual: Usual) => {
  const version = textIn(query, 'version');
  const label = textIn(query, 'label');
  if (version !== undefined && label !== undefined) {
    throw invalidParameter('label', 'cannot be combined with "version": give one of them');
  }
  if (version !== undefined) return { version: readNumber(version) };
  return label === undefined ? usual : { label };
};

const readNumber = (text: string): number => {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number < 2 ** 31) return number;
  throw invalidParameter('version', 'must be a whole number from 1');
};

const mostDepth = 5;
const mostChars = 4 * 1024 * 1024;
const mostParts = 1_000;

/**
 * Position of a text while parts are inserted: the names of the prompts that contain it, outermost first, and how many
 * more parts may be inserted.
 */
type Place = { within: readonly string[]; budget: { parts: number } };

const unresolved = 'read the prompt with resolve=false';

const refuseParts = ([name]: readonly string[], what: string): AppError =>
  new AppError('invalid', `the parts of "${name}" ${what}; ${unresolved}`);

/**
 * Returns the prompt that a part refers to. Throws `not_found` if it does not exist, and `invalid` if it cannot be
 * inserted at this position.
 */
const findPart = async (
  db: Queryable,
  projectId: string,
  { name, at }: PromptPart,
  { within, budget }: Place,
): Promise<{ name: string; text: string }> => {
  budget.parts -= 1;
  if (within.length > mostDepth || budget.parts < 0) {
    throw refuseParts(
      within,
      `are nested more than ${mostDepth} levels deep, or are more than ${mostParts}`,
    );
  }
  const { repo, version } = await getVersion(db, projectId, { kind, name }, at);
  if (within.includes(repo.name)) {
    throw refuseParts(
      within,
      `refer to each other in a circle, ${[...within, repo.name].join(' → ')}`,
    );
  }
  const content: unknown = JSON.parse(version.content);
  if (typeof content === 'string') return { name: repo.name, text: content };
  throw new AppError('invalid', `"${repo.name}" is a chat prompt, which cannot be part of a text`);
};

/** Returns the text in which each part is replaced by the prompt that it refers to. */
const resolveText = async (
  db: Queryable,
  projectId: string,
  text: string,
  place: Place,
): Promise<string> => {
  const { within, budget } = place;
  let resolved = text;
  for (const { written, part } of partsOf(text)) {
    const found = await findPart(db, projectId, part, place);
    const inner = await resolveText(db, projectId, found.text, {
      within: [...within, found.name],
      budget,
    });
    resolved = resolved.replace(written, () => inner);
    if (resolved.length > mostChars) throw refuseParts(within, 'are too long');
  }
  return resolved;
};

const resolveContent = (
  db: Queryable,
  projectId: string,
  { name, content }: { name: string; content: string },
): Promise<unknown> => {
  const place = { within: [name], budget: { parts: mostParts } };
  return mapTexts(JSON.parse(content), (text) => resolveText(db, projectId, text, place));
};

const viewFound = ({ repo, version }: Found, prompt: unknown): PromptView => ({
  id: version.id,
  projectId: repo.projectId,
  createdAt: version.createdAt.toISOString(),
  updatedAt: version.updatedAt.toISOString(),
  createdBy: version.createdBy,
  name: repo.name,
  version: version.version,
  type: repo.promptType ?? 'text',
  prompt,
  config: new JsonText(version.config),
  labels: version.labels,
  tags: repo.tags,
  commitMessage: version.message,
  isActive: version.labels.includes('production'),
  resolutionGraph: null,
});

/** Returns the view of a prompt with its parts unresolved. */
export const viewPrompt = (found: Found): PromptView =>
  viewFound(found, new JsonText(found.version.content));

/**
 * Returns the view of a prompt with its parts resolved. Throws `not_found` if a part does not exist, and `invalid` if
 * there are too many parts.
 */
export const resolvePrompt = async (
  db: Queryable,
  projectId: string,
  found: Found,
): Promise<PromptView> => {
  const { repo, version } = found;
  if (!version.content.includes(partMark)) return viewPrompt(found);
  const { content } = version;
  return viewFound(found, await resolveContent(db, projectId, { name: repo.name, content }));
};

const refusePrompt = (message: string, cause?: unknown): AppError =>
  new AppError('invalid', `invalid request: prompt: ${message}`, {
    fields: [{ path: ['prompt'], message }],
    cause,
  });

/**
 * Throws `invalid` if the parts of a prompt cannot be resolved, or if a variable and a placeholder have the same name.
 */
const checkPrompt = async (
  db: Queryable,
  projectId: string,
  { name, content }: Pick<Push, 'name' | 'content'>,
): Promise<void> => {
  const resolved = await resolveContent(db, projectId, { name, content }).catch((error) => {
    const isOfParts = error instanceof AppError && ['not_found', 'invalid'].includes(error.code);
    throw isOfParts ? refusePrompt(error.message.replace(`; ${unresolved}`, ''), error) : error;
  });
  const twice = namedTwice(resolved);
  if (twice.length === 0) return;
  throw refusePrompt(
    `${twice.map((one) => `"${one}"`).join(', ')} cannot name both a variable and a placeholder`,
  );
};

/** Pushes the next version of a prompt. Throws `invalid`, `conflict`, `exhausted`. */
export const pushPrompt = async (db: Database, projectId: string, push: Push): Promise<Found> => {
  const name = readName('name', push.name);
  await checkPrompt(db, projectId, { ...push, name });
  return pushVersion(db, projectId, push);
};

/** Returns the view of a prompt in a list. */
export const viewPromptMeta = (repo: ListedRepo) => ({
  name: repo.name,
  type: repo.promptType ?? 'text',
  versions: repo.versions,
  labels: repo.labels.map(({ label }) => label),
  tags: repo.tags,
  lastUpdatedAt: repo.updatedAt.toISOString(),
  lastConfig: new JsonText(repo.lastConfig),
});

/** Adds labels to a version, and removes them from the versions that had them. Throws `invalid` for `latest`. */
export const labelPrompt = async (
  db: Database,
  projectId: string,
  { name, version, labels }: { name: string; version: string; labels: readonly string[] },
): Promise<Found> => {
  const given = readLabels('newLabels', labels);
  if (given.includes('latest')) throw invalidParameter('newLabels', 'cannot move "latest"');
  const at = { version: readNumber(version) };
  return db.transaction(async (tx) => {
    const { repo } = await getVersion(tx, projectId, { kind, name }, at);
    await lockRepo(tx, repo);
    await assignLabels(tx, repo, at.version, given);
    return getVersion(tx, projectId, repo, at);
  });
};

/** Deletes a prompt, or the version that the query names. Throws `not_found`. */
export const deletePrompt = async (
  db: Database,
  projectId: string,
  name: string,
  query: RawQuery,
): Promise<void> => {
  const at = versionIn(query, undefined);
  await db.transaction(async (tx) => {
    const known = await findNamedRepo(tx, projectId, { kind, name });
    const repo = known === undefined ? undefined : await lockRepo(tx, known);
    if (repo === undefined) throw noRepo({ kind, name });
    if (at === undefined) {
      await deleteRepo(tx, repo);
      return;
    }
    const version = await findVersion(tx, repo.key, at);
    if (version === undefined) throw noRepo({ kind, name });
    const latest = await deleteVersion(tx, repo.key, version.version);
    if (latest === null) await deleteRepo(tx, repo);
    else if (version.labels.includes('latest')) await assignLabels(tx, repo, latest, ['latest']);
  });
};
