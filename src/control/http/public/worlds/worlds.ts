/** Endpoints of worlds: create, list and rename them, and read one with its parts. */
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import type { EntityView } from '#wire/public-api/worlds/runtime.ts';
import type { WorldDetail } from '#wire/public-api/worlds/world.ts';
import { worldFields } from '../../../base/contracts/contract-view.ts';
import { JsonText } from '../../../base/json/json-text.ts';
import { findProjectPath } from '../../../db/projects/keys.ts';
import { listWorlds } from '../../../db/worlds/worlds.ts';
import type { Parts } from '../../../parts.ts';
import { resolveAddress } from '../../../worlds/versions/address.ts';
import { createWorld } from '../../../worlds/versions/create.ts';
import { onceOf } from '../../../worlds/versions/idempotency.ts';
import { rename } from '../../../worlds/versions/rename.ts';
import {
  taskFields,
  viewTasks,
  viewWorldDetail,
  viewWorldList,
  type WorldAddress,
} from '../../../worlds/versions/view.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { pageOf, readFields, toMeta, toRange } from '../../server/paging.ts';

const jsonType = 'application/json; charset=utf-8';

/** Returns true if `If-None-Match` shows that the client has this content already. */
const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*');

const addressOf = async ({ db, publicUrl }: Parts, projectId: string): Promise<WorldAddress> => ({
  publicUrl: publicUrl(),
  project: await findProjectPath(db, projectId),
});

/** Returns the client's view of the world that an address names. */
export const viewAddressed = async (
  parts: Parts,
  projectId: string,
  slug: string,
): Promise<WorldDetail> => {
  const { world, version } = await resolveAddress(parts, projectId, slug);
  const head = await parts.versions.get(world.headVersionId);
  const { id, number } = head ?? version;
  return viewWorldDetail(
    world,
    { version, head: { id, number } },
    await addressOf(parts, projectId),
  );
};

export const worldEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.createWorld, async ({ body, headers }, { caller, signal }) => {
    const creator = { ...caller, once: onceOf('createWorld', headers, body.hash) };
    const { worldId, versionId, isNew } = await createWorld(parts, creator, body, signal);
    const address = isNew ? worldId : `${worldId}@${versionId}`;
    const view = await viewAddressed(parts, caller.projectId, address);
    return isNew ? respond(201, view) : respond(200, view);
  }),

  endpoint(api.listWorlds, async ({ query }, { caller: { projectId } }) => {
    const fields = readFields(query.fields, worldFields);
    const { rows, total } = await listWorlds(parts.db, projectId, {
      ...toRange(query),
      archived: query.archived ?? false,
    });
    const address = await addressOf(parts, projectId);
    const data = await viewWorldList(parts.versions, rows, address, fields);
    return respond(200, { data, meta: toMeta(query, total) });
  }),

  endpoint(api.getWorld, async ({ params: { slug } }, { caller: { projectId } }) =>
    respond(200, await viewAddressed(parts, projectId, slug)),
  ),

  endpoint(api.renameWorld, async ({ params, body }, { caller: { projectId } }) => {
    const { id } = await rename(parts, projectId, params.slug, body);
    parts.versions.forgetSlug(id);
    return respond(200, await viewAddressed(parts, projectId, id));
  }),

  endpoint(api.listWorldTasks, async ({ params, query }, { caller: { projectId } }) => {
    const { version } = await resolveAddress(parts, projectId, params.slug);
    const { tasks } = version.contract;
    const { name } = query;
    const chosen = name === undefined ? tasks : tasks.filter((task) => task.name === name);
    const { data, meta } = pageOf(chosen, query);
    const shown = viewTasks(version.contract, data, readFields(query.fields, taskFields));
    return respond(200, { versionId: version.id, data: shown, meta });
  }),

  // Schemas of clients are evaluated over the version's bundle in a process that can be ended when it takes too long.
  endpoint(api.listWorldEntities, async ({ params }, { caller: { projectId }, signal }) => {
    const { version } = await resolveAddress(parts, projectId, params.slug);
    const world = { digest: version.bundle, project: projectId };
    const described = await parts.compiler.run(
      { kind: 'describe-entities', world },
      { project: projectId, signal, supply: () => parts.blobs.get(version.bundle) },
    );
    if (!described.ok) {
      throw new AppError('timeout', `the entities of "${params.slug}" take too long to describe`);
    }
    const data = new JsonText(described.entitiesJson) as unknown as EntityView[];
    return respond(200, { versionId: version.id, data });
  }),

  endpoint(api.getWorldOpenApi, async ({ params, headers: given }, { caller: { projectId } }) => {
    const { version } = await resolveAddress(parts, projectId, params.slug);
    const digest = version.openApi;
    if (digest === undefined) {
      const message = `the world "${params.slug}" has no HTTP API: its connector.toml declares no routes`;
      throw new AppError('not_found', message);
    }
    const etag = `"${digest.slice('sha256:'.length)}"`;
    const headers = { etag, 'cache-control': 'private, no-cache' };
    if (isKnown(given['if-none-match'], etag)) return { ...respond(304, undefined), headers };
    // The document was made when the world was compiled; its bytes are sent as they are.
    const document = (await parts.blobs.get(digest)) as unknown as Record<string, unknown>;
    return { ...respond(200, document), headers: { ...headers, 'content-type': jsonType } };
  }),
];
