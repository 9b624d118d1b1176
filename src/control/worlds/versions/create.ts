/**
 * Creates a world from the tree of a template or of the client, with overlay files and additional rows. Everything is
 * compiled, stored as blobs, and then written as the world's first version. If the compiler refuses the world, nothing
 * is written.
 */
import { AppError } from '#domain/error.ts';
import { isId, newId } from '#domain/id.ts';
import { isSlug, type TreeFile } from '#domain/world.ts';
import { allOf } from '../../base/bodies/all-of.ts';
import type { KeptWorld } from '../../base/bodies/keep.ts';
import { violates } from '../../db/core/errors.ts';
import type { Upload } from '../../db/projects/uploads.ts';
import { findHeadBlobs } from '../../db/worlds/head-blobs.ts';
import {
  findWorld,
  insertNextVersion,
  insertWorld,
  type VersionRow,
  type WorldRow,
  worldSlugConstraint,
} from '../../db/worlds/worlds.ts';
import type { Built, RefusedRow } from '../compile/build.ts';
import { checkTree, decodeTree, overlay } from '../compile/tree.ts';
import type { WorldParts } from '../parts.ts';
import { checkInUse, reloadWorld } from './address.ts';
import { connectorPrefix, readConnector } from './connectors.ts';
import { makeOnce, type Once } from './idempotency.ts';
import { type LinkingWorld, linkVersion } from './links.ts';
import { findLost } from './lost.ts';
import { refusedWorld } from './problems.ts';
import { builtRows, type Source, sourceOf, storeVersion, withUpload } from './store-version.ts';
import { readTemplate } from './templates.ts';

/** Slugs that no world may have, because they are path segments of routes below `/worlds`. */
const reservedSlugs = ['templates', 'runtime'];

const field = (name: string, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: [name], message }] });

/** Throws `invalid` if no world may have the text as its slug. */
export const checkSlug = (slug: string): void => {
  if (!isSlug(slug)) {
    throw field('slug', `"${slug}" is not 1 to 64 lower-case letters, digits and inner hyphens`);
  }
  // Every parameter that takes a slug takes the id of a world, too.
  if (isId('wld', slug)) throw field('slug', `"${slug}" has the form of an id`);
  if (reservedSlugs.includes(slug))
    throw field('slug', `"${slug}" is reserved: it is part of a path of the API`);
};

/** Builds the error for a slug that another world already has. */
export const slugTaken = (slug: string): AppError =>
  new AppError('conflict', `world slug "${slug}" is taken in this project`);

const readFrom = async (
  parts: WorldParts,
  projectId: string,
  from: NonNullable<KeptWorld['from']>,
): Promise<TreeFile[]> => {
  if (typeof from !== 'string') return decodeTree(from, 'from');
  if (from.startsWith(connectorPrefix)) return readConnector(parts, projectId, from);
  return readTemplate(parts.config.templatesDir, from);
};

const readSource = async (
  parts: WorldParts,
  projectId: string,
  body: KeptWorld,
): Promise<TreeFile[]> => {
  const base = await readFrom(parts, projectId, body.from ?? []);
  const tree = overlay(base, decodeTree(body.overlay ?? [], 'overlay'));
  if (tree.length === 0) {
    throw field('from', 'there is nothing to make a world from: name a template or give files');
  }
  checkTree(tree);
  return tree;
};

/** Builds the error for a world that is refused because of one of its rows. */
export const rowRefused = ({ message, field }: RefusedRow): AppError =>
  new AppError('invalid', `a row is refused: ${message}`, { fields: [field] });

/** Checks the slug. If the slug is wrong, checks the files, too, so that one answer reports the problems of both. */
const checkNames = async (parts: WorldParts, projectId: string, body: KeptWorld): Promise<void> => {
  try {
    checkSlug(body.slug);
  } catch (error) {
    await allOf(
      () => {
        throw error;
      },
      () => readSource(parts, projectId, body),
    );
  }
};

/** Returns the compiled tree. Throws `invalid` with all problems if the tree did not compile. */
export const builtOrRefused = (built: Built): Extract<Built, { ok: true }> => {
  if (built.ok) return built;
  throw 'row' in built ? rowRefused(built.row) : refusedWorld(built.problems);
};

/**
 * Author of a world or a version: the project, and the public key of the key pair. `once` is set if the request has an
 * `Idempotency-Key`.
 */
export type Creator = { projectId: string; publicKey: string; once?: Once };

/** World and version that a request created. */
export type MadeWorld = { worldId: string; versionId: string; isNew: boolean };

const build = async (
  parts: WorldParts,
  world: LinkingWorld,
  body: KeptWorld,
  signal: AbortSignal | undefined,
): Promise<Source> => {
  const { compiler } = parts;
  const tree = await readSource(parts, world.projectId, body);
  const { rowsJson, redact } = body;
  const context = { project: world.projectId, signal };
  const job = { kind: 'build', files: tree, rowsJson, redact } as const;
  const built = builtOrRefused(await compiler.run(job, context));
  if (built.rows.kind !== 'built') throw new Error('a new world cannot keep rows of another world');
  const linked = await linkVersion(parts, world, built);
  return sourceOf(tree, built, { ...linked, rows: builtRows(built.rows) });
};

/** World whose slug is taken although the bytes of the world are lost. */
type LostWorld = Pick<WorldRow, 'id' | 'description'> & { head: Pick<VersionRow, 'id' | 'number'> };

/**
 * Returns the world that has the slug if the bytes of that world are lost; it can then be created again. Returns
 * undefined if the slug is free. Throws `conflict` if the slug is taken by a world that still has its bytes.
 */
const findLostWorld = async (
  { db, blobs }: WorldParts,
  projectId: string,
  slug: string,
): Promise<LostWorld | undefined> => {
  const world = await findWorld(db, projectId, slug);
  if (world === undefined) return undefined;
  const head = await findHeadBlobs(db, world.id);
  if (head === undefined) throw slugTaken(slug);
  if ((await findLost(blobs, [head.bundle, head.snapshot])).size === 0) throw slugTaken(slug);
  checkInUse(world);
  return { ...world, head };
};

/** Compiles the world of an upload, stores its blobs and writes it. */
const makeWorld = async (
  parts: WorldParts,
  upload: Upload,
  { body, lost, creator }: { body: KeptWorld; lost: LostWorld | undefined; creator: Creator },
  signal: AbortSignal | undefined,
): Promise<MadeWorld> => {
  const { projectId } = upload;
  const { slug } = body;
  const source = await build(parts, { projectId, id: lost?.id, slug }, body, signal);
  const version = await storeVersion(parts, upload, source, {
    message: body.message ?? null,
    author: creator.publicKey,
    origin: 'create',
    replaced: [],
    base: null,
  });
  const world = {
    id: lost?.id ?? newId('wld'),
    projectId,
    slug,
    kind: 'mock-tools',
    name: body.name ?? source.name,
    description: body.description ?? lost?.description ?? null,
  };
  const made = { worldId: world.id, versionId: version.id, isNew: true };
  const askedBy = { once: creator.once };
  if (lost !== undefined) {
    const next = { ...world, base: lost.head.id };
    if (await insertNextVersion(parts.db, next, version, upload.id, askedBy)) return made;
    await reloadWorld(parts, projectId, world);
    throw new AppError('conflict', `world "${slug}" got another version in the meantime`);
  }
  try {
    await insertWorld(parts.db, world, version, upload.id, askedBy);
    return made;
  } catch (error) {
    throw violates(error, worldSlugConstraint) ? slugTaken(slug) : error;
  }
};

/**
 * Creates the world. If it exists and its bytes are lost, creates its next version. Throws `invalid` with all problems,
 * `conflict` if the slug is taken, and `exhausted` if too many worlds wait to be compiled or a quota is used up. If the
 * signal aborts while the world waits to be compiled, the world is removed from the queue; later the signal has no
 * effect.
 */
export const createWorld = async (
  parts: WorldParts,
  creator: Creator,
  body: KeptWorld,
  signal?: AbortSignal,
): Promise<MadeWorld> => {
  const { projectId } = creator;
  const make = async (): Promise<MadeWorld> => {
    await checkNames(parts, projectId, body);
    const lost = await findLostWorld(parts, projectId, body.slug);
    return withUpload(parts, { projectId, makesWorld: true }, (upload) =>
      makeWorld(parts, upload, { body, lost, creator }, signal),
    );
  };
  return makeOnce(parts, creator, make, async (made) => ({ ...made, isNew: false }));
};
