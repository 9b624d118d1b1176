/**
 * Resolves the world version that a request to open a session names: the head of a world, an explicit version, or the
 * version of a stored task. Heads are cached. For a cached head, the statement that inserts the session verifies that
 * it is still the head.
 */
import { AppError } from '#domain/error.ts';
import type { KeptOpen } from '../../base/bodies/keep.ts';
import { findWorldById } from '../../db/worlds/worlds.ts';
import type { Version } from '../../worlds/caches/versions.ts';
import { getTask } from '../../worlds/tasks/stored.ts';
import {
  checkInUse,
  getWorld,
  parseAddress,
  resolveAddress,
} from '../../worlds/versions/address.ts';
import type { SessionParts } from '../parts.ts';

/** Parts of the request that select the version. */
type Asked = { projectId: string; body: KeptOpen };

/** Builds the error for a field of the request. */
export const invalid = (path: string[], message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path, message }] });

/** Returns a version and its world by the id of the version. Throws `not_found` if the project has no such version. */
const getOwnVersion = async (parts: SessionParts, projectId: string, id: string) => {
  const version = await parts.versions.get(id);
  const world =
    version?.projectId === projectId
      ? await findWorldById(parts.db, projectId, version.worldId)
      : undefined;
  if (version !== undefined && world !== undefined) return { world, version };
  throw new AppError('not_found', `there is no version "${id}"`);
};

/**
 * Returns the world of a stored task, in the version to which the task is pinned; if it is not pinned, in the head
 * version.
 */
const resolveByTask = async (parts: SessionParts, { projectId, body }: Asked) => {
  const { task, slug } = body;
  if (typeof task !== 'object' || !('id' in task)) {
    if (slug !== undefined) return resolveAddress(parts, projectId, slug);
    throw invalid(['slug'], 'name the world: "slug" for its head version, or "versionId"');
  }
  const stored = await getTask(parts, projectId, task.id);
  const own = slug === undefined ? undefined : await getWorld(parts, projectId, slug);
  if (own !== undefined && own.id !== stored.worldId)
    return resolveAddress(parts, projectId, own.id);
  if (stored.worldIsGone) {
    throw new AppError('not_found', `the world "${stored.slug}" of task "${task.id}" was deleted`);
  }
  const { pin, worldId } = stored;
  return resolveAddress(parts, projectId, pin === null ? worldId : `${worldId}@${pin.versionId}`);
};

const resolveAny = async (parts: SessionParts, request: Asked) => {
  const { projectId, body } = request;
  const { slug: address, versionId } = body;
  if (versionId === undefined) {
    const isBare = address === undefined || parseAddress(address).ref === undefined;
    return isBare ? resolveByTask(parts, request) : resolveAddress(parts, projectId, address);
  }
  const own = await getOwnVersion(parts, projectId, versionId);
  if (address === undefined) return own;
  const { slug, ref } = parseAddress(address);
  if ((await getWorld(parts, projectId, slug)).id !== own.world.id) {
    throw invalid(
      ['versionId'],
      `${versionId} is a version of "${own.world.slug}", not of "${slug}"`,
    );
  }
  if (ref === undefined) return own;
  if ((await resolveAddress(parts, projectId, address)).version.id === versionId) return own;
  throw invalid(['versionId'], `"${address}" names a version other than ${versionId}`);
};

export type Resolved = { version: Version; headOf: string | null };

/**
 * Returns the slug or id of the world if the request names nothing but the world's head; undefined if more must be
 * looked up.
 */
export const headAddressOf = ({ slug, versionId, task, run }: KeptOpen): string | undefined => {
  if (slug === undefined || versionId !== undefined || run !== undefined) return undefined;
  if (typeof task === 'object' && 'id' in task) return undefined;
  return parseAddress(slug).ref === undefined ? slug : undefined;
};

/** Returns the head of a world from the cache; undefined if it is not cached. */
export const findCachedHead = async (
  { worldLookup, versions }: SessionParts,
  { projectId }: Asked,
  address: string,
): Promise<Resolved | undefined> => {
  const world = worldLookup.get(projectId, address);
  const version = world && (await versions.get(world.headVersionId));
  return version && { version, headOf: world.slug };
};

/** Returns the requested version. Throws `not_found`, `invalid` or `conflict` if no session of it can be opened. */
export const resolveVersion = async (parts: SessionParts, request: Asked): Promise<Resolved> => {
  const { world, version } = await resolveAny(parts, request);
  checkInUse(world);
  const address = headAddressOf(request.body);
  if (address !== undefined) parts.worldLookup.note(request.projectId, address, world);
  return { version, headOf: null };
};
