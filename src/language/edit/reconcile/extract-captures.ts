/**
 * The rows that a tree's captures hold. Of one key there is one row, of all that was captured of it: a list may tell
 * what the item does not, and the other way round. Lists come first, so that rows stand in their order; where both tell,
 * what is read later holds.
 */

import type { TreeFile } from '#domain/world.ts';
import type { Row } from '../../contract.ts';
import type { Problem } from '../../problem.ts';
import { createProblems } from '../../read/place.ts';
import { openTree } from '../../read/tree.ts';
import { readCapturedRows, type SourcedRow } from './captured-rows.ts';

/** Rows of an entity, and how many were read for them: of one key there may have been several. */
export type CapturedEntity = {
  entity: string;
  rows: Row[];
  read: number;
  /** What the rows hold of these fields was preserved before it was captured, and must not be again. */
  preserved: readonly string[];
};

type Extracted =
  | {
      ok: true;
      entities: CapturedEntity[];
    }
  | { ok: false; problems: Problem[] };

type Found = { byKey: Map<string, { row: Row; preserved: readonly string[] }>; read: number };

/** What both captures had preserved: the rest is plaintext in one of them. */
const inBoth = (one: readonly string[], other: readonly string[]): readonly string[] =>
  one.filter((name) => other.includes(name));

/** The rows of an entity, apart by what was preserved in them. */
const split = (entity: string, { byKey, read }: Found): CapturedEntity[] => {
  const parts = new Map<string, CapturedEntity>();
  for (const { row, preserved } of byKey.values()) {
    const key = JSON.stringify(preserved);
    // How many were read is told once.
    const count = parts.size === 0 ? read : 0;
    const part = parts.get(key) ?? { entity, rows: [], read: count, preserved };
    parts.set(key, part);
    part.rows.push(row);
  }
  return [...parts.values()];
};

/** Rows of lists, then those that came alone. */
const listsFirst = (captured: readonly SourcedRow[]): SourcedRow[] => [
  ...captured.filter(({ isListed }) => isListed),
  ...captured.filter(({ isListed }) => !isListed),
];

/** Reads them, or tells why they cannot be read. */
export const extractCaptures = (files: readonly TreeFile[]): Extracted => {
  const problems = createProblems();
  const tree = openTree(files, problems);
  if (tree === undefined) return { ok: false, problems: problems.list() };
  const read = readCapturedRows(tree, problems);
  if (!read.ok) return read;
  const { captured, model } = read.rows;
  const found = new Map<string, Found>();
  for (const { row, source } of listsFirst(captured)) {
    const of: Found = found.get(source.entity) ?? { byKey: new Map(), read: 0 };
    found.set(source.entity, of);
    of.read += 1;
    const names = model.entities.get(source.entity)?.primaryKey ?? [];
    const key = JSON.stringify(names.map((name) => row[name]));
    const known = of.byKey.get(key);
    const preserved = source.preserved ?? [];
    of.byKey.set(key, {
      row: { ...known?.row, ...row },
      preserved: known === undefined ? preserved : inBoth(known.preserved, preserved),
    });
  }
  return { ok: true, entities: [...found].flatMap(([entity, of]) => split(entity, of)) };
};
