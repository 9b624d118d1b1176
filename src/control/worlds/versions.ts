/**
 * World versions in memory. A version never changes, so one that was read once is as good as the
 * database's; what is derived from it is made once, too.
 */

import type { Static } from 'typebox';
import type { SurfaceKind } from '#domain/session.ts';
import type { JsonSchema } from '#language/contract.ts';
import { openApiOf } from '#language/openapi.ts';
import { createRowChecker, type RowChecker } from '#language/rows.ts';
import type { ToolView } from '#wire/public-api/session.ts';
import { hashOf } from '../canonical.ts';
import type { Queryable } from '../db/pool.ts';
import { findVersions, type VersionRow } from '../db/worlds.ts';
import { viewTools } from './tool-view.ts';

export type Version = VersionRow & {
  tools: Static<typeof ToolView>[];
  toolNames: ReadonlySet<string>;
  /** The surfaces that sessions of it can have. */
  surfaces: SurfaceKind[];
  /** The OpenAPI document of its routes, with its entity tag; undefined when it has none. */
  openApi(): DescribedApi | undefined;
  /** Checks rows against its contract; made when first asked for. */
  rowChecker(): RowChecker;
};

export type DescribedApi = { document: JsonSchema; etag: string };

export type Versions = {
  /** The version of this id, of whatever project; undefined when there is none. */
  get(versionId: string): Promise<Version | undefined>;
  /** All versions with these ids. */
  getMany(versionIds: readonly string[]): Promise<Map<string, Version>>;
};

/** Versions kept; the one unused for longest goes first. */
const mostKept = 200;

const describeApi = ({ contract }: VersionRow): DescribedApi | undefined => {
  if ((contract.api?.routes ?? []).length === 0) return undefined;
  const document = openApiOf(contract);
  return { document, etag: `"${hashOf(document)}"` };
};

const toVersion = (row: VersionRow): Version => {
  let checker: RowChecker | undefined;
  let described: DescribedApi | undefined;
  return {
    ...row,
    tools: viewTools(row.contract),
    toolNames: new Set(row.contract.tools.map(({ name }) => name)),
    surfaces: row.contract.api === null ? [] : ['api'],
    openApi: () => {
      described ??= describeApi(row);
      return described;
    },
    rowChecker: () => {
      checker ??= createRowChecker(row.contract);
      return checker;
    },
  };
};

/** Makes the cache. */
export const createVersions = (db: Queryable): Versions => {
  const kept = new Map<string, Version>();

  const keep = (version: Version): void => {
    kept.delete(version.id);
    kept.set(version.id, version);
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
  };

  const getMany = async (ids: readonly string[]): Promise<Map<string, Version>> => {
    const missing = [...new Set(ids)].filter((id) => !kept.has(id));
    const rows = missing.length === 0 ? [] : await findVersions(db, missing);
    const read = new Map(rows.map((row) => [row.id, toVersion(row)]));
    const found = new Map<string, Version>();
    for (const id of ids) {
      const version = kept.get(id) ?? read.get(id);
      if (version !== undefined) found.set(id, version);
    }
    for (const version of found.values()) keep(version);
    return found;
  };

  return { getMany, get: async (id) => (await getMany([id])).get(id) };
};
