/**
 * Extracts the rows of a tree's captures. Captures of the same primary key are merged into one row: a list may have
 * fields that the single object lacks, and the other way round. Lists are read first, so that rows keep their order.
 * If both have a field, the later value wins.
 */

import type { TreeFile } from '#domain/world.ts';
import type { Row } from '../../contract.ts';
import type { Problem } from '../../problem.ts';
import { createProblems } from '../../read/place.ts';
import { openTree } from '../../read/tree.ts';
import { readCapturedRows, type SourcedRow } from './captured-rows.ts';

/** Rows of an entity, and the number of rows before the merge by key. */
export type CapturedEntity = {
  entity: string;
  rows: Row[];
  read: number;
  /** Fields that were preserved before the capture and must not be preserved again. */
  preserved: readonly string[];
};

type Extracted =
  | {
      ok: true;
      entities: CapturedEntity[];
    }
  | { ok: false; problems: Problem[] };

type Found = { byKey: Map<string, { row: Row; preserved: readonly string[] }>; read: number };

/** Returns the fields that both captures preserved; the others hold plaintext in one of them. */
const inBoth = (one: readonly string[], other: readonly string[]): readonly string[] =>
  one.filter((name) => other.includes(name));

/** Groups the rows of an entity by their preserved fields. */
const split = (entity: string, { byKey, read }: Found): CapturedEntity[] => {
  const parts = new Map<string, CapturedEntity>();
  for (const { row, preserved } of byKey.values()) {
    const key = JSON.stringify(preserved);
    // Only the first group carries the number, so that it counts once.
    const count = parts.size === 0 ? read : 0;
    const part = parts.get(key) ?? { entity, rows: [], read: count, preserved };
    parts.set(key, part);
    part.rows.push(row);
  }
  return [...parts.values()];
};

/** Returns rows of lists, then those of single objects. */
const listsFirst = (captured: readonly SourcedRow[]): SourcedRow[] => [
  ...captured.filter(({ isListed }) => isListed),
  ...captured.filter(({ isListed }) => !isListed),
];

/** Extracts the rows, or returns the problems that prevent it. */
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
