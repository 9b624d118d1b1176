/**
 * World versions in memory. A version never changes, so one that was read once is as good as the
 * database's; what is derived from it is made once, too.
 */
import type { SurfaceKind } from '#domain/session.ts';
import type { Digest } from '#domain/world.ts';
import { openApiPath } from '#language/artifacts/paths.ts';
import type { Queryable } from '../db/pool.ts';
import { findVersions, type VersionRow } from '../db/worlds.ts';
import { createFairCache, type FairCache } from '../fair-cache.ts';
import { viewTools } from './tool-view.ts';

export type Version = VersionRow & {
  /** Its tools as clients see them, as JSON text; made when first asked for. */
  toolsJson(): string;
  toolNames: ReadonlySet<string>;
  /** The surfaces that sessions of it can have. */
  surfaces: SurfaceKind[];
  /** The blob of the OpenAPI document of its routes, made when it was compiled; undefined without any. */
  openApi: Digest | undefined;
};

export type Versions = {
  /** The version of this id, of whatever project; undefined when there is none. */
  get(versionId: string): Promise<Version | undefined>;
  /** All versions with these ids. */
  getMany(versionIds: readonly string[]): Promise<Map<string, Version>>;
};

/** What the versions in memory may take, reckoned from their JSON: objects take a few times as much. */
const mostBytes = 256 * 1024 * 1024;
const bytesPerChar = 4;

/** A version's own fields, beside its contract and its list of files. */
const otherBytes = 4 * 1024;

const openApiOf = ({ contract, files }: VersionRow): Digest | undefined =>
  (contract.api?.routes ?? []).length === 0
    ? undefined
    : files.find(({ path }) => path === openApiPath)?.sha256;

const toVersion = (row: VersionRow): Version => {
  let tools: string | undefined;
  return {
    ...row,
    toolsJson: () => {
      tools ??= JSON.stringify(viewTools(row.contract));
      return tools;
    },
    toolNames: new Set(row.contract.tools.map(({ name }) => name)),
    surfaces: row.contract.api === null ? [] : ['api'],
    openApi: openApiOf(row),
  };
};

/** Makes the cache. */
export const createVersions = (
  db: Queryable,
  kept: FairCache<Version> = createFairCache(mostBytes),
): Versions => {
  const read = async (ids: readonly string[]): Promise<Version[]> => {
    const rows = ids.length === 0 ? [] : await findVersions(db, ids);
    return rows.map(({ jsonChars, ...row }) => {
      const value = toVersion(row);
      const bytes = jsonChars * bytesPerChar + otherBytes;
      kept.keep({ key: value.id, owner: value.projectId, bytes, value });
      return value;
    });
  };

  const getMany = async (ids: readonly string[]): Promise<Map<string, Version>> => {
    const found = new Map<string, Version>();
    for (const id of ids) {
      const version = found.get(id) ?? kept.get(id);
      if (version !== undefined) found.set(id, version);
    }
    const missing = [...new Set(ids)].filter((id) => !found.has(id));
    for (const version of await read(missing)) found.set(version.id, version);
    return found;
  };

  return { getMany, get: async (id) => (await getMany([id])).get(id) };
};
