/**
 * Which version of a world an open asks for: the head of a world that it names, another version, or that of a stored
 * task. The head is remembered; whoever opens a session of it has the statement that writes that confirm it.
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

/** Of an open. */
type Asked = { projectId: string; body: KeptOpen };

/** The error of a field of a request. */
export const invalid = (path: string[], message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path, message }] });

/** The version of an id and its world; throws `not_found` when the project has none of it. */
const getOwnVersion = async (parts: SessionParts, projectId: string, id: string) => {
  const version = await parts.versions.get(id);
  const world =
    version?.projectId === projectId
      ? await findWorldById(parts.db, projectId, version.worldId)
      : undefined;
  if (version !== undefined && world !== undefined) return { world, version };
  throw new AppError('not_found', `there is no version "${id}"`);
};

/** The world of a stored task, in the version that it is pinned to. */
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
  throw invalid(['versionId'], `"${address}" is another version than ${versionId}`);
};

export type Resolved = { version: Version; headOf: string | null };

/** The world whose head is asked for and nothing else, by its slug or id; undefined where there is more to look up. */
export const headAddressOf = ({ slug, versionId, task, run }: KeptOpen): string | undefined => {
  if (slug === undefined || versionId !== undefined || run !== undefined) return undefined;
  if (typeof task === 'object' && 'id' in task) return undefined;
  return parseAddress(slug).ref === undefined ? slug : undefined;
};

/** The head of a world as it was found last, by its address. */
export const remembered = async (
  { worldLookup, versions }: SessionParts,
  { projectId }: Asked,
  address: string,
): Promise<Resolved | undefined> => {
  const world = worldLookup.get(projectId, address);
  const version = world && (await versions.get(world.headVersionId));
  return version && { version, headOf: world.slug };
};

/** The version that is asked for; throws `not_found`, `invalid` or `conflict` where there is none to open. */
export const resolveVersion = async (parts: SessionParts, request: Asked): Promise<Resolved> => {
  const { world, version } = await resolveAny(parts, request);
  checkInUse(world);
  const address = headAddressOf(request.body);
  if (address !== undefined) parts.worldLookup.note(request.projectId, address, world);
  return { version, headOf: null };
};
