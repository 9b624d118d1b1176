/** Prompts, which are context repositories, as the field's SDKs push, label, fetch and delete them. */
import { AppError } from '#domain/error.ts';
import type { ContextKind, PromptView } from '#wire/public-api/context.ts';
import {
  deleteRepo,
  deleteVersion,
  dropLabels,
  findVersion,
  type ListedRepo,
  lockRepo,
} from '../db/context.ts';
import type { Database, Queryable } from '../db/database.ts';
import { JsonText } from '../json/json-text.ts';
import { invalidParameter, type RawQuery, textIn } from '../lists/query.ts';
import { mapTexts, partsOf } from './prompt-form.ts';
import {
  type Found,
  findNamedRepo,
  getVersion,
  giveLabels,
  noRepo,
  readLabels,
} from './versions.ts';

const kind = 'prompts' satisfies ContextKind;

/** The version that a query names; of none, what `usual` says. Throws `invalid`. */
export const versionIn = <Usual>(query: RawQuery, usual: Usual) => {
  const version = textIn(query, 'version');
  const label = textIn(query, 'label');
  if (version !== undefined && label !== undefined) {
    throw invalidParameter('label', 'and version cannot both be given');
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

/** How much may be put in yet: parts in parts could become any number. */
type Room = { parts: number };

const tooMuch = (name: string): AppError =>
  new AppError(
    'invalid',
    `the parts of "${name}" are nested deeper than ${mostDepth}, or too many or too long; read it with resolve=false`,
  );

/** The text with the prompts put in that it names. */
const resolveText = async (
  db: Queryable,
  projectId: string,
  text: string,
  { name, depth, room }: { name: string; depth: number; room: Room },
): Promise<string> => {
  let resolved = text;
  for (const { written, part } of partsOf(text)) {
    room.parts -= 1;
    if (depth >= mostDepth || room.parts < 0) throw tooMuch(name);
    const { repo, version } = await getVersion(db, projectId, { kind, name: part.name }, part.at);
    const content: unknown = JSON.parse(version.content);
    if (typeof content !== 'string') {
      throw new AppError('invalid', `"${repo.name}" is a chat, which no text can have as a part`);
    }
    const inner = await resolveText(db, projectId, content, { name, depth: depth + 1, room });
    resolved = resolved.replace(written, () => inner);
    if (resolved.length > mostChars) throw tooMuch(name);
  }
  return resolved;
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

/** A prompt as it was written. */
export const viewPrompt = (found: Found): PromptView =>
  viewFound(found, new JsonText(found.version.content));

/** A prompt with its parts put in. Throws `not_found` for a part that there is not, `invalid` for too many. */
export const resolvePrompt = async (
  db: Queryable,
  projectId: string,
  found: Found,
): Promise<PromptView> => {
  const { repo, version } = found;
  if (!version.content.includes('@@@langfusePrompt:')) return viewPrompt(found);
  const place = { name: repo.name, depth: 0, room: { parts: mostParts } };
  const prompt = await mapTexts(JSON.parse(version.content), (text) =>
    resolveText(db, projectId, text, place),
  );
  return viewFound(found, prompt);
};

/** A prompt in a list. */
export const viewPromptMeta = (repo: ListedRepo) => ({
  name: repo.name,
  type: repo.promptType ?? 'text',
  versions: repo.versions,
  labels: repo.labels.map(({ label }) => label),
  tags: repo.tags,
  lastUpdatedAt: repo.updatedAt.toISOString(),
  lastConfig: new JsonText(repo.lastConfig),
});

/** Gives a version these labels in place of those that it has; `latest` stays where it is. */
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
    await dropLabels(tx, { repoKey: repo.key, version: at.version, kept: given });
    await giveLabels(tx, repo, at.version, given);
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
    else if (version.labels.includes('latest')) await giveLabels(tx, repo, latest, ['latest']);
  });
};
