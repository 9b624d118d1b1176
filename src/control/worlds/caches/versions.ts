/**
 * Cache of world versions. A version never changes, so a cached version is always valid, and values derived from it are
 * computed only once. Only the slug of the version's world may change; it is read again after some seconds.
 */
import { LRUCache } from 'lru-cache';
import type { SurfaceKind } from '#domain/session.ts';
import type { Digest } from '#domain/world.ts';
import { linkedTool } from '#language/contract.ts';
import { openApiPath } from '#language/read/paths.ts';
import { createFairCache, type FairCache } from '../../base/fairness/fair-cache.ts';
import type { Queryable } from '../../db/core/database.ts';
import { currentProject } from '../../db/core/project-queue.ts';
import { findSlug } from '../../db/worlds/world-names.ts';
import { findVersion, type VersionRow } from '../../db/worlds/worlds.ts';
import { createVersionTexts, type VersionTexts } from './version-texts.ts';

export type Version = VersionRow & {
  /** Names of all tools, including those of linked worlds. */
  toolNames: ReadonlySet<string>;
  /** Surfaces that sessions of the version can have. */
  surfaces: SurfaceKind[];
  /**
   * Blob of the OpenAPI document of the world's routes, written when the version was compiled; undefined if the world
   * has no routes.
   */
  openApi: Digest | undefined;
};

export type Versions = {
  /** Returns the version with this id, whichever project it belongs to; undefined if there is none. */
  get(versionId: string): Promise<Version | undefined>;
  /** Drops the cached slug of a world that was renamed on this replica. */
  forgetSlug(worldId: string): void;
  /** Texts of versions for answers. They have a cache of their own. */
  texts: VersionTexts;
};

/**
 * Maximum size of the cache in bytes. Sizes are estimated from the JSON text; as objects, versions take a few times as
 * much.
 */
const mostBytes = 256 * 1024 * 1024;
const bytesPerChar = 4;

/** Estimated bytes of a version's own fields, without its contract and its list of files. */
const otherBytes = 4 * 1024;

/**
 * Returns the surfaces that sessions of a world can have. A world with a UI also has the surface of a browser, which
 * displays the UI.
 */
export const servedSurfaces = (world: { hasApi: boolean; hasUi: boolean }): SurfaceKind[] => [
  ...(world.hasApi ? (['api'] as const) : []),
  ...(world.hasUi ? (['ui', 'browser'] as const) : []),
];

const openApiOf = ({ contract, files }: VersionRow): Digest | undefined =>
  (contract.api?.routes ?? []).length === 0
    ? undefined
    : files.find(({ path }) => path === openApiPath)?.sha256;

const toVersion = (row: VersionRow): Version => ({
  ...row,
  toolNames: new Set([
    ...row.contract.tools.map(({ name }) => name),
    ...row.links.flatMap(({ alias, tools }) => tools.map((tool) => linkedTool(alias, tool))),
  ]),
  surfaces: servedSurfaces({
    hasApi: row.contract.api !== null,
    hasUi: row.contract.ui !== null,
  }),
  openApi: openApiOf(row),
});

/** Time for which a slug is cached, in milliseconds, and maximum number of cached slugs. */
const slugMs = 5_000;
const mostSlugs = 10_000;

/** Creates the cache. */
export const createVersions = (
  db: Queryable,
  kept: FairCache<Version> = createFairCache(mostBytes),
  now: () => number = () => performance.now(),
): Versions => {
  /** Slugs of worlds that were read recently, by world id. */
  const slugs = new LRUCache<string, { slug: string; readAt: number }>({ max: mostSlugs });
  const noteSlug = (worldId: string, slug: string): void => {
    slugs.set(worldId, { slug, readAt: now() });
  };

  const named = async (version: Version): Promise<Version> => {
    const { worldId, slug: last } = version;
    const known = slugs.get(worldId);
    const isFresh = known !== undefined && now() - known.readAt < slugMs;
    const slug = isFresh ? known.slug : ((await findSlug(db, worldId)) ?? last);
    if (!isFresh) noteSlug(worldId, slug);
    return slug === last ? version : { ...version, slug };
  };

  /** Reads in progress: a version that several requests of a project need at the same time is read once. */
  const reads = new Map<string, Promise<Version | undefined>>();

  const read = async (id: string): Promise<Version | undefined> => {
    const row = await findVersion(db, id);
    if (row === undefined) return undefined;
    const { jsonChars, ...rest } = row;
    const value = toVersion(rest);
    const bytes = jsonChars * bytesPerChar + otherBytes;
    kept.keep({ key: id, owner: value.projectId, bytes, value });
    noteSlug(value.worldId, value.slug);
    return value;
  };

  const get = async (id: string): Promise<Version | undefined> => {
    const known = kept.get(id);
    if (known !== undefined) return named(known);
    // Keyed by project, so that a project waits for its own place in the fair queue only, see
    // `db/core/project-queue.ts`.
    const key = `${currentProject() ?? ''} ${id}`;
    const underWay = reads.get(key);
    if (underWay !== undefined) return underWay;
    const begun = read(id).finally(() => reads.delete(key));
    reads.set(key, begun);
    return begun;
  };

  return {
    get,
    forgetSlug(worldId) {
      slugs.delete(worldId);
    },
    texts: createVersionTexts(db, get),
  };
};
