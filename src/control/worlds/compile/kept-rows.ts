/**
 * Rows of a version that did not come from its tree: sent when the world was created, or imported. The next push keeps
 * them. In a snapshot the rows of the tree come first in each entity, and `treeRows` has their number. Other rows are
 * therefore appended, and a row of the tree that an import changes moves behind the tree's rows.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { dataFolder } from './tree.ts';

export type Rows = Record<string, Row[]>;

/** Version that another is made from. */
export type BaseVersion = {
  bundle: Uint8Array;
  /** Rows of each entity that came from the tree; undefined if none of its rows are kept. */
  treeRows: Record<string, number> | TreeFile[] | undefined;
  /** Entities whose rows of the tree are left out, because an import has replaced them. */
  replaced: readonly string[];
};

const countOf = ({ content }: TreeFile): number => {
  const value: unknown = JSON.parse(new TextDecoder().decode(content));
  return Array.isArray(value) ? value.length : 0;
};

const isFiles = (
  treeRows: Record<string, number> | readonly TreeFile[],
): treeRows is readonly TreeFile[] => Array.isArray(treeRows);

/**
 * Returns the number of rows of each entity that came from the tree. Versions of an earlier release have no numbers,
 * so their files of rows are counted.
 */
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

/** Returns the rows of a tree without those of replaced entities. */
export const withoutReplaced = (ofTree: Rows, replaced: readonly string[] = []): Rows =>
  Object.fromEntries(
    Object.entries(ofTree).map(([entity, rows]) => [entity, replaced.includes(entity) ? [] : rows]),
  );
