/**
 * Reference model of a push that keeps rows, written as plainly as possible: all rows in lists, put into a store one
 * by one. Tests compare `#data/import/carry.ts` with it.
 */
import type { Contract, Row } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { buildSnapshot } from '#store/snapshot.ts';

type Rows = Record<string, Row[]>;

export type ModelledPush =
  | {
      kind: 'carried';
      rows: Rows;
      stateDigest: string;
      treeRows: Record<string, number>;
      keptRows: number;
      leftOutRows: number;
    }
  | { kind: 'refused'; entity: string; detail: string };

const totalOf = (rows: Rows): number =>
  Object.values(rows).reduce((sum, list) => sum + list.length, 0);

/** Pushes the rows of a tree onto a world's, of which the first `treeRows` of each entity came from its tree. */
export const modelPush = (
  contract: Contract,
  ofTree: Rows,
  base: { rows: Rows; treeRows: Record<string, number> },
  replaced: readonly string[],
): ModelledPush => {
  const kept: Rows = Object.fromEntries(
    Object.entries(base.rows)
      .map(([name, rows]): [string, Row[]] => [name, rows.slice(base.treeRows[name] ?? 0)])
      .filter(([, rows]) => rows.length > 0),
  );
  const stays: Rows = Object.fromEntries(
    contract.entities.map(({ name, primaryKey }) => {
      const keyOf = (row: Row): string => JSON.stringify(primaryKey.map((field) => row[field]));
      const taken = new Set((kept[name] ?? []).map(keyOf));
      const rows = replaced.includes(name) ? [] : (ofTree[name] ?? []);
      return [name, rows.filter((row) => !taken.has(keyOf(row)))];
    }),
  );
  const rows: Rows = { ...stays };
  for (const [name, list] of Object.entries(kept)) rows[name] = [...(rows[name] ?? []), ...list];
  try {
    const { digest } = buildSnapshot(contract, rows);
    const treeRows = Object.fromEntries(
      Object.entries(stays).map(([name, list]) => [name, list.length]),
    );
    const leftOutRows = totalOf(ofTree) - totalOf(stays);
    return {
      kind: 'carried',
      rows,
      stateDigest: digest,
      treeRows,
      keptRows: totalOf(kept),
      leftOutRows,
    };
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    return { kind: 'refused', entity: error.entity, detail: error.detail };
  }
};
