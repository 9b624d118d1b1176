/**
 * What answers tell of a world version, as JSON text: kept beside the version, by name, so that a list
 * knows how long a text is before it reads it.
 */
import {
  type VersionTextName,
  type VersionTexts,
  versionTextNames,
} from '../contracts/contract-view.ts';
import { type Queryable, statement } from './database.ts';

// One text a statement: an array of large texts would be written twice on its way.
const insertTextStatement = statement(
  'insert_version_text',
  `insert into version_texts (version_id, name, text) values ($1, $2, $3) on conflict do nothing`,
);

/** Writes the texts of a version; those that it has already stay. */
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

/** How many bytes the texts of these names have together, by version; a version that lacks one is absent. */
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

/** The texts of these names, by version. */
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
