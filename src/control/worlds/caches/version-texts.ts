/**
 * Reads the precomputed texts of versions, which answers include. For a page of a list, the lengths of the texts are
 * first subtracted from the page's size budget. Then only the texts that fit are read. Small texts that are read one at
 * a time are cached; the cache has a size limit that projects share fairly. A version of an earlier release has no
 * texts: they are built when first needed.
 */

import {
  type VersionTexts as Texts,
  type VersionTextName,
  writeTexts,
} from '../../base/contracts/contract-view.ts';
import { createFairCache, type FairCache } from '../../base/fairness/fair-cache.ts';
import { createSizeBudget } from '../../base/json/page-budget.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  findVersionTexts,
  insertVersionTexts,
  measureVersionTexts,
} from '../../db/worlds/version-summaries.ts';
import type { VersionRow } from '../../db/worlds/worlds.ts';

/** Entry of a page: the id of its version, and the size of the entry's other members in bytes. */
type PageEntry = { versionId: string; otherBytes: number };

export type VersionTexts = {
  /** Returns one text of a version. */
  one(version: Pick<VersionRow, 'id' | 'projectId'>, name: VersionTextName): Promise<string>;
  /**
   * Returns the named texts for the entries of a page, in the order of the entries. Returns undefined for an entry that
   * exceeds the page's size budget.
   */
  page<Name extends VersionTextName>(
    entries: readonly PageEntry[],
    names: readonly Name[],
  ): Promise<(Pick<Texts, Name> | undefined)[]>;
};

/**
 * Maximum size of the cache in bytes, maximum length of a cached text in characters, upper bound for the bytes of a
 * character, and estimated bytes of an entry besides its text.
 */
const mostBytes = 64 * 1024 * 1024;
const mostChars = 512 * 1024;
const bytesPerChar = 2;
const entryBytes = 512;

/** Reads a version with all its fields. */
type GetVersion = (versionId: string) => Promise<VersionRow | undefined>;

/** Creates the reader. `getVersion` reads versions whose texts do not exist yet. */
export const createVersionTexts = (
  db: Queryable,
  getVersion: GetVersion,
  kept: FairCache<string> = createFairCache(mostBytes),
): VersionTexts => {
  const make = async (versionId: string): Promise<Texts> => {
    const version = await getVersion(versionId);
    if (version === undefined) throw new Error(`the database has no version ${versionId}`);
    const texts = writeTexts(version.contract);
    await insertVersionTexts(db, versionId, texts);
    return texts;
  };

  /**
   * Returns for each entry whether the entry fits into the page. Texts that do not exist yet are built one after
   * another, as long as there is budget.
   */
  const takeBudget = async (
    entries: readonly PageEntry[],
    names: readonly VersionTextName[],
  ): Promise<boolean[]> => {
    const ids = [...new Set(entries.map(({ versionId }) => versionId))];
    const lengths =
      names.length === 0 ? new Map<string, number>() : await measureVersionTexts(db, ids, names);
    const lengthOf = async (versionId: string): Promise<number> => {
      const known = names.length === 0 ? 0 : lengths.get(versionId);
      if (known !== undefined) return known;
      const made = await make(versionId);
      const length = names.reduce((sum, name) => sum + Buffer.byteLength(made[name]), 0);
      lengths.set(versionId, length);
      return length;
    };
    const budget = createSizeBudget();
    const taken: boolean[] = [];
    for (const { versionId, otherBytes } of entries) {
      const isFull = names.length > 0 && taken.at(-1) === false;
      taken.push(!isFull && budget.take(otherBytes + (await lengthOf(versionId))));
    }
    return taken;
  };

  return {
    async one({ id, projectId }, name) {
      const key = `${id} ${name}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const found = (await findVersionTexts(db, [id], [name])).get(id);
      const text = found?.[name] ?? (await make(id))[name];
      const bytes = text.length * bytesPerChar + entryBytes;
      if (text.length <= mostChars) kept.keep({ key, owner: projectId, bytes, value: text });
      return text;
    },
    async page<Name extends VersionTextName>(
      entries: readonly PageEntry[],
      names: readonly Name[],
    ) {
      const taken = await takeBudget(entries, names);
      const shown = new Set(entries.flatMap(({ versionId }, at) => (taken[at] ? [versionId] : [])));
      const found =
        names.length === 0
          ? new Map<string, Partial<Texts>>()
          : await findVersionTexts(db, [...shown], names);
      return entries.map(({ versionId }, at) =>
        taken[at] ? ((found.get(versionId) ?? {}) as Pick<Texts, Name>) : undefined,
      );
    },
  };
};
