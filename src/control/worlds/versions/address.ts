/**
 * Resolves the address of a world. `<slug>` names the head; `<slug>@<version>` names the version with that number,
 * label or id, or the `latest` one.
 */
import { AppError } from '#domain/error.ts';
import { isId } from '#domain/id.ts';
import { suggestName } from '#language/read/suggest.ts';
import { findVersionByLabel, findVersionByNumber } from '../../db/worlds/versions.ts';
import { findRenamed } from '../../db/worlds/world-names.ts';
import { findWorld, findWorldById, listSlugs, type WorldRow } from '../../db/worlds/worlds.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';

/**
 * Splits the address of a world into the slug and the version reference; the reference is undefined if the address has
 * none.
 */
export const parseAddress = (address: string): { slug: string; ref: string | undefined } => {
  const at = address.indexOf('@');
  return at === -1
    ? { slug: address, ref: undefined }
    : { slug: address.slice(0, at), ref: address.slice(at + 1) };
};

/** Returns a world by its slug or id. Throws `not_found`, with similar slugs, if the project has no such world. */
export const getWorld = async (
  { db }: WorldParts,
  projectId: string,
  slug: string,
): Promise<WorldRow> => {
  const find = isId('wld', slug) ? findWorldById : findWorld;
  const world = await find(db, projectId, slug);
  if (world !== undefined) return world;
  const renamed = await findRenamed(db, projectId, slug);
  if (renamed !== undefined) {
    throw new AppError('not_found', `there is no world "${slug}": it was renamed to "${renamed}"`);
  }
  const hint = suggestName(slug, await listSlugs(db, projectId)) ?? 'the project has none yet';
  throw new AppError('not_found', `there is no world "${slug}"; ${hint}`);
};

/** Throws `conflict` if the world is archived and therefore read-only. */
export const checkInUse = ({ slug, archivedAt }: WorldRow): void => {
  if (archivedAt === null) return;
  throw new AppError(
    'conflict',
    `the world "${slug}" is archived: restore it with "svc worlds archive ${slug} --undo"`,
  );
};

/** Builds the error for a world that was deleted after the request began. */
export const goneError = (slug: string): AppError =>
  new AppError('not_found', `the world "${slug}" was deleted in the meantime`);

/**
 * Reads again a world that existed and was not archived when the request began. Throws `not_found` if it was deleted in
 * the meantime, and `conflict` if it was archived.
 */
export const reloadWorld = async (
  { db }: WorldParts,
  projectId: string,
  { id, slug }: Pick<WorldRow, 'id' | 'slug'>,
): Promise<WorldRow> => {
  const now = await findWorldById(db, projectId, id);
  if (now === undefined) throw goneError(slug);
  checkInUse(now);
  return now;
};

/** Returns true if the text is a version number; longer numbers cannot exist. */
const isNumber = (ref: string): boolean => /^[1-9]\d{0,8}$/.test(ref);

const findVersionId = async (
  { db }: WorldParts,
  world: WorldRow,
  ref: string,
): Promise<string | undefined> => {
  if (ref === 'latest') return world.headVersionId;
  if (isId('ver', ref)) return ref;
  if (isNumber(ref)) return findVersionByNumber(db, world.id, Number(ref));
  return ref.includes('\0') ? undefined : findVersionByLabel(db, world.id, ref);
};

/** Returns one version of a world. Throws `not_found` if the world has no such version. */
export const getVersionOf = async (
  parts: WorldParts,
  world: WorldRow,
  ref: string,
): Promise<Version> => {
  const id = await findVersionId(parts, world, ref);
  const version = id === undefined ? undefined : await parts.versions.get(id);
  if (version !== undefined && version.worldId === world.id) return version;
  throw new AppError(
    'not_found',
    `world "${world.slug}" has no version "${ref}"; "svc worlds versions ${world.slug}" lists them`,
  );
};

/** Returns the world and the version that an address names. Throws `not_found` if either does not exist. */
export const resolveAddress = async (
  parts: WorldParts,
  projectId: string,
  address: string,
): Promise<{ world: WorldRow; version: Version }> => {
  const { slug, ref = 'latest' } = parseAddress(address);
  const world = await getWorld(parts, projectId, slug);
  return { world, version: await getVersionOf(parts, world, ref) };
};
