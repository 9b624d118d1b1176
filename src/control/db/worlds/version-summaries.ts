/**
 * Summaries of versions: facts, and texts by their names. Lists read them in place of the versions' contracts. The
 * length of a text is known without reading the text. Both are written together with the version. For versions of an
 * earlier release, the facts are computed here, one version at a time, so that an upgrade does not wait for them.
 */

import type { Digest } from '#domain/world.ts';
import {
  factsOf,
  type VersionTextName,
  type VersionTexts,
  versionTextNames,
} from '../../base/contracts/contract-view.ts';
import { type Queryable, statement } from '../core/database.ts';

// Each statement inserts one text, because an array of large texts would be encoded twice.
const insertTextStatement = statement(
  'insert_version_text',
  `insert into version_texts (version_id, name, text) values ($1, $2, $3) on conflict do nothing`,
);

/** Inserts the texts of a version. Existing texts stay unchanged. */
export const insertVersionTexts = async (
  db: Queryable,
  versionId: string,
  texts: VersionTexts,
): Promise<void> => {
  for (const name of versionTextNames) {
    await db.query(insertTextStatement, [versionId, name, texts[name]]);
  }
};

// The length of a text is known without reading it.
const measureTextsStatement = statement(
  'measure_version_texts',
  `select version_id as "versionId", sum(octet_length(text))::float8 as bytes
     from version_texts where version_id = any($1) and name = any($2)
    group by version_id having count(*) = cardinality($2::text[])`,
);

/**
 * Returns the total bytes of the texts with these names, by version. A version that lacks one of the texts is left out.
 */
export const measureVersionTexts = async (
  db: Queryable,
  versionIds: readonly string[],
  names: readonly VersionTextName[],
): Promise<Map<string, number>> => {
  const rows = await db.query<{ versionId: string; bytes: number }>(measureTextsStatement, [
    versionIds,
    names,
  ]);
  return new Map(rows.map(({ versionId, bytes }) => [versionId, bytes]));
};

const findTextsStatement = statement(
  'find_version_texts',
  `select version_id as "versionId", name, text
     from version_texts where version_id = any($1) and name = any($2)`,
);

/** Returns the texts with these names, by version. */
export const findVersionTexts = async (
  db: Queryable,
  versionIds: readonly string[],
  names: readonly VersionTextName[],
): Promise<Map<string, Partial<VersionTexts>>> => {
  const rows = await db.query<{ versionId: string; name: VersionTextName; text: string }>(
    findTextsStatement,
    [versionIds, names],
  );
  const found = new Map<string, Partial<VersionTexts>>();
  for (const { versionId, name, text } of rows) {
    found.set(versionId, { ...found.get(versionId), [name]: text });
  }
  return found;
};

const readStatement = statement(
  'read_unfilled_version',
  'select contract, files, bundle, snapshot from versions where id = $1 and (blobs is null or has_ui is null or has_routes is null)',
);

const fillStatement = statement(
  'fill_version',
  `update versions set has_api = :hasApi, has_ui = :hasUi, has_routes = :hasRoutes, tool_count = :toolCount, task_count = :taskCount, blobs = :blobs, bytes = :bytes
    where id = :id and (blobs is null or has_ui is null or has_routes is null)`,
);

type Unfilled = {
  contract: Parameters<typeof factsOf>[0];
  files: { sizeBytes: number; sha256: Digest }[];
  bundle: Digest;
  snapshot: Digest;
};

/** Computes and stores the facts and the list of blobs of a version, unless they are stored already. */
export const fillVersion = async (db: Queryable, id: string): Promise<void> => {
  const [found] = await db.query<Unfilled>(readStatement, [id]);
  if (found === undefined) return;
  const digests = new Set([
    ...found.files.map((file) => file.sha256),
    found.bundle,
    found.snapshot,
  ]);
  const bytes = found.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const facts = factsOf(found.contract);
  await db.query(fillStatement, { id, ...facts, blobs: [...digests], bytes });
};

const heldStatement = statement(
  'find_held_blobs_of_version',
  'select blobs, bytes::float8 as bytes from versions where id = $1',
);

/** Returns the blobs of a version and the bytes that count for the project, if the facts of the version are stored. */
export const findHeld = async (
  db: Queryable,
  id: string,
): Promise<{ blobs: Digest[]; bytes: number }> => {
  const [held] = await db.query<{ blobs: Digest[]; bytes: number }>(heldStatement, [id]);
  if (held === undefined) throw new Error(`the database has no version ${id}`);
  return held;
};

/** Maximum number of versions in one run of the backfill. */
const most = 50;

const unfilledStatement = statement(
  'find_unfilled_versions',
  `select id from versions where blobs is null order by id limit ${most}`,
);

/**
 * Computes the facts of some versions. If one version fails, continues with the others and throws the first error at
 * the end.
 */
export const fillVersions = async (db: Queryable): Promise<void> => {
  const rows = await db.query<{ id: string }>(unfilledStatement, []);
  const failures: unknown[] = [];
  for (const { id } of rows) {
    await fillVersion(db, id).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
};
