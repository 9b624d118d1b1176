/**
 * The rows of a version that did not come from its tree: given when the world was created, or imported. The next
 * push keeps them. In a snapshot the rows of the tree come first in each entity, and `treeRows` says how many there
 * are; so whatever writes other rows appends them, and a row of the tree that it changes goes behind those.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { dataFolder } from './tree.ts';

export type Rows = Record<string, Row[]>;

/** The version that another is made from. */
export type BaseVersion = {
  bundle: Uint8Array;
  /** How many rows of each entity came from the tree, where any of its rows are kept. */
  treeRows: Record<string, number> | TreeFile[] | undefined;
  /** Entities of which the tree's rows are left out, as an import has replaced them. */
  replaced: readonly string[];
};

const countOf = ({ content }: TreeFile): number => {
  const value: unknown = JSON.parse(new TextDecoder().decode(content));
  return Array.isArray(value) ? value.length : 0;
};

const isFiles = (
  treeRows: Record<string, number> | readonly TreeFile[],
): treeRows is readonly TreeFile[] => Array.isArray(treeRows);

/** How many rows came from the tree: a release before this one wrote no numbers down, but its files of rows have them. */
export const countTreeRows = (
  treeRows: Record<string, number> | readonly TreeFile[],
): Record<string, number> =>
  isFiles(treeRows)
    ? Object.fromEntries(
        treeRows
          .filter(({ path }) => path.endsWith('.json'))
          .map((file) => [file.path.slice(dataFolder.length, -'.json'.length), countOf(file)]),
      )
    : treeRows;

/** The rows of a tree but those of replaced entities. */
export const withoutReplaced = (ofTree: Rows, replaced: readonly string[] = []): Rows =>
  Object.fromEntries(
    Object.entries(ofTree).map(([entity, rows]) => [entity, replaced.includes(entity) ? [] : rows]),
  );
