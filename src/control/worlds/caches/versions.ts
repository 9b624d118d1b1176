/**
 * World versions in memory. A version never changes, so one that was read once is as good as the
 * database's; what is derived from it is made once, too. Only the slug of its world may: it is asked for again
 * now and then.
 */
import { LRUCache } from 'lru-cache';
import type { SurfaceKind } from '#domain/session.ts';
import type { Digest } from '#domain/world.ts';
import { linkedTool } from '#language/contract.ts';
import { openApiPath } from '#language/read/paths.ts';
import { createFairCache, type FairCache } from '../../base/fairness/fair-cache.ts';
import type { Queryable } from '../../db/core/database.ts';
import { projectAsking } from '../../db/core/project-queue.ts';
import { findSlug } from '../../db/worlds/world-names.ts';
import { findVersion, type VersionRow } from '../../db/worlds/worlds.ts';
import { createVersionTexts, type VersionTexts } from './version-texts.ts';

export type Version = VersionRow & {
  /** Those of linked worlds, too. */
  toolNames: ReadonlySet<string>;
  /** The surfaces that sessions of it can have. */
  surfaces: SurfaceKind[];
  /** The blob of the OpenAPI document of its routes, made when it was compiled; undefined without any. */
  openApi: Digest | undefined;
};

export type Versions = {
  /** The version of this id, of whatever project; undefined when there is none. */
  get(versionId: string): Promise<Version | undefined>;
  /** A world was renamed here: its slug is read anew. */
  forgetSlug(worldId: string): void;
  /** What answers tell of versions; they are not kept with these. */
  texts: VersionTexts;
};

/** What the versions in memory may take, reckoned from their JSON: objects take a few times as much. */
const mostBytes = 256 * 1024 * 1024;
const bytesPerChar = 4;

/** A version's own fields, beside its contract and its list of files. */
const otherBytes = 4 * 1024;

/** The surfaces that sessions of a world can have: a browser shows its UI. */
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

/** How long a slug is believed, in milliseconds, and how many are. */
const slugMs = 5_000;
const mostSlugs = 10_000;

/** Makes the cache. */
export const createVersions = (
  db: Queryable,
  kept: FairCache<Version> = createFairCache(mostBytes),
  now: () => number = () => performance.now(),
): Versions => {
  /** The slugs of worlds that were read lately, by the worlds' ids. */
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

  /** Reads under way: a version that several requests of a project ask for at once is read once. */
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
    // A project waits for its own turn alone, see `db/core/project-queue.ts`.
    const key = `${projectAsking() ?? ''} ${id}`;
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
