/** Endpoints of the versions of worlds and their files, labels, and the archiving and removal of worlds. */
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import * as api from '#wire/public-api/operations.ts';
import type { PushBody } from '#wire/public-api/worlds/version.ts';
import { findVersionStatus, listVersions } from '../../../db/worlds/versions.ts';
import type { Parts } from '../../../parts.ts';
import type { Version } from '../../../worlds/caches/versions.ts';
import { getVersionOf, getWorld, resolveAddress } from '../../../worlds/versions/address.ts';
import { removeWorld, setArchived } from '../../../worlds/versions/archive.ts';
import type { Creator } from '../../../worlds/versions/create.ts';
import { onceOf } from '../../../worlds/versions/idempotency.ts';
import { pinLabel, unpinLabel } from '../../../worlds/versions/labels.ts';
import { findMissing, pushVersion } from '../../../worlds/versions/push.ts';
import { viewListedVersion, viewVersionDetail } from '../../../worlds/versions/view-version.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { toMeta, toRange } from '../../server/paging.ts';

/** Returns a page of a world's versions. */
export const readVersions = async (
  parts: Parts,
  projectId: string,
  slug: string,
  query: { page?: number; limit?: number },
) => {
  const world = await getWorld(parts, projectId, slug);
  const { rows, total } = await listVersions(parts.db, world.id, toRange(query));
  return { data: rows.map(viewListedVersion), meta: toMeta(query, total) };
};

/** Returns one version of a world with its files. */
export const readVersion = async (parts: Parts, projectId: string, slug: string, ref: string) => {
  const world = await getWorld(parts, projectId, slug);
  const version = await getVersionOf(parts, world, ref);
  return viewVersionDetail(version, world.slug, await findVersionStatus(parts.db, version.id));
};

/** Pushes a version, and builds the answer. */
export const answerPush = async (
  parts: Parts,
  creator: Creator,
  push: { slug: string; body: PushBody },
  signal: AbortSignal,
) => {
  const pushed = await pushVersion(parts, creator, push, signal);
  const { world, version, changed, isRepeated, keptRows, leftOutRows } = pushed;
  const status = await findVersionStatus(parts.db, version.id);
  const detail = viewVersionDetail(version, world.slug, status);
  const { warnings } = version;
  const view = { ...detail, changed, keptRows, leftOutRows, warnings };
  return changed && !isRepeated ? respond(201, view) : respond(200, view);
};

/**
 * Pattern of the files that may contain solutions: `scenario.toml` of a scenario, and the scripts in the same folder.
 */
const scenarioFile = /^scenarios\/[^/]+\/(?:scenario\.toml|[^/]+\.(?:py|ts))$/;

/**
 * Throws `forbidden` for files that may contain solutions. An agent may have a public key, but must not read solutions.
 */
const refuseSolutions = ({ contract, files }: Version, sha256: string): void => {
  const mayReveal = files.some((file) => file.sha256 === sha256 && scenarioFile.test(file.path));
  const hasSolution = ({ solution, alternatives }: Version['contract']['tasks'][number]): boolean =>
    (solution ?? alternatives) !== undefined;
  if (!mayReveal || !contract.tasks.some(hasSolution)) return;
  const message =
    'the file may contain the solution of a task, so it can only be read with the secret key';
  throw new AppError('forbidden', message);
};

export const versionEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listVersions, async ({ params, query }, { caller: { projectId } }) =>
    respond(200, await readVersions(parts, projectId, params.slug, query)),
  ),

  endpoint(api.getVersion, async ({ params }, { caller: { projectId } }) =>
    respond(200, await readVersion(parts, projectId, params.slug, params.version)),
  ),

  endpoint(api.findMissingFiles, async ({ params, body }, { caller: { projectId } }) => {
    const world = await getWorld(parts, projectId, params.slug);
    const head = await getVersionOf(parts, world, 'latest');
    const digests = body.sha256.map((sha256): Digest => `sha256:${sha256}`);
    const missing = await findMissing(parts, projectId, head, digests);
    return respond(200, {
      slug: world.slug,
      missing: missing.map((digest) => digest.slice('sha256:'.length)),
      head: { id: head.id, number: head.number },
    });
  }),

  endpoint(api.pushVersion, ({ params: { slug }, body, headers }, { caller, signal }) => {
    const creator = { ...caller, once: onceOf(`pushVersion ${slug}`, headers, body.hash) };
    return answerPush(parts, creator, { slug, body }, signal);
  }),

  endpoint(api.archiveWorld, async ({ params: { slug }, body }, { caller: { projectId } }) => {
    const { archived } = body;
    const world = await setArchived(parts, { projectId, slug, archived });
    return respond(200, { slug: world.slug, archived });
  }),

  endpoint(api.deleteWorld, async ({ params }, { caller: { projectId } }) => {
    const { id, slug } = await removeWorld(parts, projectId, params.slug);
    return respond(200, { id, slug });
  }),

  endpoint(api.setLabel, async ({ params, body }, { caller: { projectId } }) =>
    respond(200, await pinLabel(parts, { ...params, projectId }, body.version)),
  ),

  endpoint(api.removeLabel, async ({ params }, { caller: { projectId } }) => {
    await unpinLabel(parts, { ...params, projectId });
    return respond(200, params);
  }),

  // The version must list the digest itself: other blobs that the service has are not served here.
  endpoint(api.getWorldFile, async ({ params }, { caller: { projectId, level } }) => {
    const { world, version } = await resolveAddress(parts, projectId, params.slug);
    const file = version.files.find(({ sha256 }) => sha256 === `sha256:${params.sha256}`);
    if (file === undefined) {
      const message = `version ${version.number} of "${world.slug}" has no file ${params.sha256}`;
      throw new AppError('not_found', message);
    }
    if (level === 'public') refuseSolutions(version, file.sha256);
    return respond(200, await parts.blobs.get(file.sha256));
  }),
];
