/**
 * Extracts the rows of a tree's captures. Captures with the same primary key are merged into one row, because a list
 * may have fields that the single object lacks, and a single object fields that the list lacks. Lists are read first,
 * so that rows keep the lists' order. If both have a field, the later value replaces the earlier one.
 */

import type { TreeFile } from '#domain/world.ts';
import type { Row } from '../../contract.ts';
import type { Problem } from '../../problem.ts';
import { createProblems } from '../../read/place.ts';
import { openTree } from '../../read/tree.ts';
import { readCapturedRows, type SourcedRow } from './captured-rows.ts';

/** Rows of an entity, and number of rows before they were merged by key. */
export type CapturedEntity = {
  entity: string;
  rows: Row[];
  read: number;
  /** Fields to which the mode `preserve` was applied before the capture was written; it must not be applied again. */
  preserved: readonly string[];
};

type Extracted =
  | {
      ok: true;
      entities: CapturedEntity[];
    }
  | { ok: false; problems: Problem[] };

type Found = { byKey: Map<string, { row: Row; preserved: readonly string[] }>; read: number };

/** Returns the fields that were preserved in both captures. Any other field has plaintext in at least one of them. */
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

/** Returns the captured rows in this order: rows from lists, then rows from single objects. */
const listsFirst = (captured: readonly SourcedRow[]): SourcedRow[] => [
  ...captured.filter(({ isListed }) => isListed),
  ...captured.filter(({ isListed }) => !isListed),
];

/** Extracts the rows of a tree's captures; returns the problems if any prevents it. */
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
