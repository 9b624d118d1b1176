/**
 * Rows that a version does not have from its tree, but from the creation of the world or from an import. The next push
 * keeps them. In a snapshot, the rows of the tree come first in each entity, and `treeRows` has their number. So other
 * rows are appended; if an import changes a row of the tree, the row is moved behind the rows of the tree.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { dataFolder } from './tree.ts';

export type Rows = Record<string, Row[]>;

/** Version on which another version is based. */
export type BaseVersion = {
  bundle: Uint8Array;
  /** Number of rows that came from the tree, by entity; undefined if no rows of the version are kept. */
  treeRows: Record<string, number> | TreeFile[] | undefined;
  /** Entities whose rows of the tree are left out, because an import has replaced all their rows. */
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
 * Returns the number of rows that came from the tree, by entity. Versions of an earlier release have no such numbers,
 * so the rows in their files are counted.
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
