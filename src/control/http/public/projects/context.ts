/** Endpoints of context repositories, and of prompts, which are one kind of repository. */

import { cleanText, Misfit } from '#observability/read-value.ts';
import * as api from '#wire/public-api/operations.ts';
import type { ContextBody, ContextKind } from '#wire/public-api/projects/context.ts';
import { JsonText } from '../../../base/json/json-text.ts';
import type { Database } from '../../../db/core/database.ts';
import type { Condition } from '../../../db/core/where.ts';
import {
  countRepos,
  deleteRepo,
  findVersion,
  hasLabel,
  listRepos,
} from '../../../db/projects/context.ts';
import { refusingMisfits } from '../../../observability/ingestion/single-events.ts';
import type { Parts } from '../../../parts.ts';
import { before, equals, hasAll, since } from '../../../platform/lists/conditions.ts';
import { openNumberedPage } from '../../../platform/lists/numbered.ts';
import { invalidParameter, isTrue, type RawQuery, textIn } from '../../../platform/lists/query.ts';
import { readPrompt } from '../../../projects/context/prompt-form.ts';
import {
  deletePrompt,
  labelPrompt,
  pushPrompt,
  resolvePrompt,
  versionIn,
  viewPrompt,
  viewPromptMeta,
} from '../../../projects/context/prompts.ts';
import {
  type Found,
  findNamedRepo,
  getVersion,
  noRepo,
  pushVersion,
  readLabels,
  readTags,
  repoIdOf,
} from '../../../projects/context/versions.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const viewVersion = ({ repo, version }: Found) => ({
  kind: repo.kind,
  identifier: repo.name,
  version: version.version,
  latestVersion: repo.lastVersion,
  content: new JsonText(version.content),
  config: new JsonText(version.config),
  labels: version.labels,
  tags: repo.tags,
  message: version.message,
  createdBy: version.createdBy,
  createdAt: version.createdAt.toISOString(),
  updatedAt: version.updatedAt.toISOString(),
});

const labelled = (query: RawQuery): Condition | undefined => {
  const label = textIn(query, 'label');
  return label === undefined ? undefined : hasLabel(label);
};

/** Returns a page of the repositories of a kind, newest first. */
const readRepos = async (db: Database, projectId: string, kind: ContextKind, query: RawQuery) => {
  const page = openNumberedPage(query, projectId, { time: 'r.created_at', key: 'r.key' });
  const conditions = [
    ((bind) => `r.project_id = ${bind(projectId)} and r.kind = ${bind(kind)}`) satisfies Condition,
    equals(query, 'name', 'r.name'),
    hasAll(query, 'tag', 'r.tags'),
    labelled(query),
    since(query, 'fromUpdatedAt', 'r.updated_at'),
    before(query, 'toUpdatedAt', 'r.updated_at'),
  ].filter((condition) => condition !== undefined);
  const [rows, count] = await Promise.all([
    listRepos(db, [...conditions, ...page.conditions], page.range),
    countRepos(db, conditions),
  ]);
  return page.show(rows, count, (repo) => [repo.createdAt, repoIdOf(repo)]);
};

/**
 * Returns the content that a body pushes to a repository. Throws `Misfit` if the repository is a prompt and the content
 * does not have a prompt's form.
 */
const contentOf = (kind: ContextKind, { content }: ContextBody) => {
  if (content === undefined || content === null) throw new Misfit('content', 'is required');
  if (kind !== 'prompts') return { promptType: null, content: JSON.stringify(content) };
  const { type: promptType, ...read } = readPrompt(content, undefined);
  return { promptType, ...read };
};

const jsonOf = (value: unknown): string =>
  value === undefined || value === null ? '{}' : JSON.stringify(value);

const contextEndpointsOf = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.listContext, async ({ params, query }, { caller: { projectId } }) => {
    const { shown, meta } = await readRepos(db, projectId, params.kind, query);
    const data = shown.map((repo) => ({
      kind: repo.kind,
      identifier: repo.name,
      latestVersion: repo.lastVersion,
      versions: repo.versions.length,
      labels: Object.fromEntries(repo.labels.map(({ label, version }) => [label, version])),
      tags: repo.tags,
      createdAt: repo.createdAt.toISOString(),
      updatedAt: repo.updatedAt.toISOString(),
    }));
    return respond(200, { data, meta });
  }),

  endpoint(api.getContext, async ({ params, query }, { caller: { projectId } }) => {
    const named = { kind: params.kind, name: params.identifier };
    const at = versionIn(query, { label: 'latest' });
    if (!isTrue(query, 'exists')) {
      return respond(200, viewVersion(await getVersion(db, projectId, named, at)));
    }
    const repo = await findNamedRepo(db, projectId, named);
    const found = repo === undefined ? undefined : await findVersion(db, repo.key, at);
    return respond(200, { exists: found !== undefined, version: found?.version ?? null });
  }),

  endpoint(api.pushContext, async ({ params, body }, { caller }) => {
    const { kind, identifier: name } = params;
    const push = kind === 'prompts' ? pushPrompt : pushVersion;
    const pushed = await push(db, caller.projectId, {
      ...{ kind, name },
      ...refusingMisfits(() => contentOf(kind, body)),
      config: jsonOf(body.config),
      tags: readTags(body.tags),
      labels: readLabels('labels', body.labels ?? []),
      message: body.message === undefined ? null : cleanText(body.message),
      createdBy: caller.publicKey,
      baseVersion: body.baseVersion ?? null,
    });
    return respond(201, viewVersion(pushed));
  }),

  endpoint(api.deleteContext, async ({ params }, { caller: { projectId } }) => {
    const named = { kind: params.kind, name: params.identifier };
    const repo = await findNamedRepo(db, projectId, named);
    const deleted = repo === undefined ? undefined : await deleteRepo(db, repo);
    if (deleted === undefined) throw noRepo(named);
    return respond(200, { deleted });
  }),
];

/** Throws `invalid` for a name that the established SDKs reject, in addition to the rules for all names. */
const checkPromptName = (name: string): string => {
  if (name.includes('|')) throw invalidParameter('name', 'must have no "|"');
  if (name.trim() === 'new') throw invalidParameter('name', 'must not be "new"');
  return name;
};

const usualPrompts = '10';

const promptEndpointsOf = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.createPrompt, async ({ body }, { caller }) => {
    const read = refusingMisfits(() => readPrompt(body.prompt, body.type ?? 'text'));
    const pushed = await pushPrompt(db, caller.projectId, {
      kind: 'prompts',
      name: checkPromptName(body.name),
      promptType: read.type,
      content: read.content,
      config: jsonOf(body.config),
      tags: readTags(body.tags),
      labels: readLabels('labels', body.labels ?? []),
      message: body.commitMessage === undefined ? null : cleanText(body.commitMessage),
      createdBy: caller.publicKey,
      baseVersion: null,
    });
    return respond(201, viewPrompt(pushed));
  }),

  endpoint(api.listPrompts, async ({ query }, { caller: { projectId } }) => {
    const limit = textIn(query, 'limit') ?? usualPrompts;
    const { shown, meta } = await readRepos(db, projectId, 'prompts', { ...query, limit });
    return respond(200, { data: shown.map(viewPromptMeta), meta, pagination: meta });
  }),

  endpoint(api.getPrompt, async ({ params, query }, { caller: { projectId } }) => {
    const named = { kind: 'prompts' as const, name: params.promptName };
    const at = versionIn(query, { label: 'production' });
    const found = await getVersion(db, projectId, named, at);
    const isPlain = textIn(query, 'resolve') === 'false';
    return respond(200, isPlain ? viewPrompt(found) : await resolvePrompt(db, projectId, found));
  }),

  endpoint(api.labelPrompt, async ({ params, body }, { caller: { projectId } }) => {
    const { promptName: name, promptVersion: version } = params;
    const given = { name, version, labels: body.newLabels };
    return respond(200, viewPrompt(await labelPrompt(db, projectId, given)));
  }),

  endpoint(api.deletePrompt, async ({ params, query }, { caller: { projectId } }) => {
    await deletePrompt(db, projectId, params.promptName, query);
    return respond(204, null);
  }),
];

export const contextEndpoints = (parts: Parts): Endpoint[] => [
  ...contextEndpointsOf(parts),
  ...promptEndpointsOf(parts),
];
