/**
 * The rows of a version that did not come from its tree: given when the world was created, or imported. The next
 * push keeps them. In a snapshot the rows of the tree come first in each entity, and `treeRows` says how many there
 * are; so whatever writes other rows appends them, and a row of the tree that it changes goes behind those.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Contract, Row } from '#language/contract.ts';
import { openWorldStore } from '#store/world-store.ts';
import { dataFolder } from './tree.ts';

export type Rows = Record<string, Row[]>;

/** The version that another is made from. */
export type BaseVersion = {
  bundle: Uint8Array;
  /** Absent when nothing of its rows is kept. */
  snapshot?: Uint8Array | undefined;
  /** How many rows of each entity came from the tree. */
  treeRows: Record<string, number> | TreeFile[];
  /** Entities of which the tree's rows are left out, as an import has replaced them. */
  replaced: readonly string[];
};

const countOf = ({ content }: TreeFile): number => {
  const value: unknown = JSON.parse(new TextDecoder().decode(content));
  return Array.isArray(value) ? value.length : 0;
};

/** A release before this one wrote no numbers down: its files of rows have them. */
const countTreeRows = (files: readonly TreeFile[]): Record<string, number> =>
  Object.fromEntries(
    files
      .filter(({ path }) => path.endsWith('.json'))
      .map((file) => [file.path.slice(dataFolder.length, -'.json'.length), countOf(file)]),
  );

/** The rows of a version that did not come from its tree, in their order. */
export const readKeptRows = (
  contract: Contract,
  { snapshot, treeRows }: Pick<BaseVersion, 'snapshot' | 'treeRows'>,
): Rows => {
  if (snapshot === undefined) return {};
  const counts = new Map(
    Object.entries(Array.isArray(treeRows) ? countTreeRows(treeRows) : treeRows),
  );
  const store = openWorldStore({ contract, snapshot });
  try {
    const kept = contract.entities.map(({ name }): [string, Row[]] => {
      const texts = store.query(name, { offset: counts.get(name) ?? 0 });
      return [name, texts.map((text) => JSON.parse(text))];
    });
    return Object.fromEntries(kept.filter(([, rows]) => rows.length > 0));
  } finally {
    store.close();
  }
};

const keyIn = (row: Row, fields: readonly string[]): string =>
  JSON.stringify(fields.map((field) => row[field]));

/**
 * The rows of a tree but those that have the key of a kept one, and those of replaced entities: what was imported
 * stays as it was.
 */
export const withoutKept = (
  { entities }: Contract,
  ofTree: Rows,
  kept: Rows,
  replaced: readonly string[] = [],
): Rows => {
  const keysOf = new Map(entities.map(({ name, primaryKey }) => [name, primaryKey]));
  return Object.fromEntries(
    Object.entries(ofTree).map(([entity, rows]) => {
      if (replaced.includes(entity)) return [entity, []];
      const fields = keysOf.get(entity) ?? [];
      const taken = new Set((kept[entity] ?? []).map((row) => keyIn(row, fields)));
      return [entity, rows.filter((row) => !taken.has(keyIn(row, fields)))];
    }),
  );
};
