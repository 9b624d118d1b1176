/**
 * Reference model of imports, written as plainly as possible: rows in lists, and linear searches. Tests compare the
 * engine with it.
 */

import type { ImportMode } from '#data/import/plan.ts';
import type { Contract, EntityContract, FieldPath, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { createRowChecker } from '#language/schema/checkers.ts';
import type { Named } from './import-files.ts';

/**
 * A row, the lines that made it, and its place in the order of rows. `base` is set if the world had a row with its key.
 */
type Held = { row: Row; lines: number[]; base?: { row: Row; at: number }; at: number };

export type Modelled = {
  /** Lines that were refused, in order; -1 for rows of the world. */
  refused: number[];
  rows: Record<string, Row[]>;
  treeRows: Record<string, number>;
};

const tuple = (row: Row, paths: readonly FieldPath[]): string | undefined => {
  const values = paths.map((path) => valueAtPath(row, path) ?? null);
  return values.includes(null) ? undefined : JSON.stringify(values);
};
const asPaths = (fields: readonly string[]): FieldPath[] => fields.map((field) => [field]);
const keyIn = ({ primaryKey }: EntityContract, row: Row) => tuple(row, asPaths(primaryKey));
const isSame = (one: Row, other: Row): boolean => JSON.stringify(one) === JSON.stringify(other);
const rank = ({ lines }: Held): number => lines[0] ?? -1;

/** Place of the first row that is added to a world; the places of the world's own rows come before it. */
const firstAdded = 1e6;

/** Lists of the paths whose values no two rows may share: the key, and the unique ones. */
const listsOf = (entity: EntityContract) => [asPaths(entity.primaryKey), ...entity.unique];

/** Rows of the world with those that are imported, and the refusals that keep them consistent. */
class ImportedRows {
  /** Lines that were refused, in any order; -1 for rows of the world. */
  readonly refused: number[] = [];
  readonly #contract: Contract;
  readonly #rows: Map<string, Held[]>;
  readonly #gone: { name: string; row: Held }[] = [];

  constructor(contract: Contract, base: Record<string, Row[]>) {
    this.#contract = contract;
    const heldOf = (name: string) =>
      (base[name] ?? []).map((row, at): Held => ({ row, lines: [], at }));
    this.#rows = new Map(contract.entities.map(({ name }) => [name, heldOf(name)]));
  }

  entity(name: string): EntityContract {
    return this.#contract.entities.find((each) => each.name === name) as EntityContract;
  }

  of(name: string): Held[] {
    return this.#rows.get(name) ?? [];
  }

  ordered(name: string): Held[] {
    return this.of(name).toSorted((a, b) => a.at - b.at);
  }

  add(name: string, row: Held): void {
    this.of(name).push(row);
  }

  /** Removes the rows of which `isRemoved` is true, without a refusal. */
  drop(name: string, isRemoved: (row: Held) => boolean): void {
    this.#rows.set(
      name,
      this.of(name).filter((row) => !isRemoved(row)),
    );
  }

  /** Refuses rows that share a key or unique values with a row of an earlier line. */
  refuseTwins(): void {
    for (const entity of this.#contract.entities) {
      for (const paths of listsOf(entity)) this.#refuseTwinsOf(entity.name, paths);
    }
    this.#settle();
  }

  /** Refuses rows that refer to no row, where the import has changed one side of the reference. */
  refuseDangling(touched: ReadonlySet<string>, replaced: ReadonlySet<string>): void {
    for (const { name, relationships } of this.#contract.entities) {
      for (const { fields, target } of relationships) {
        if (!touched.has(name) && !replaced.has(target)) continue;
        const dangling = this.ordered(name).filter(({ row }) =>
          this.#isDangling(row, fields, target),
        );
        for (const row of dangling) this.#refuse(name, row);
      }
    }
    this.#settle();
  }

  #refuseTwinsOf(name: string, paths: readonly FieldPath[]): void {
    const seen = new Set<string>();
    for (const row of this.of(name).toSorted((a, b) => rank(a) - rank(b))) {
      const values = tuple(row.row, paths);
      if (values === undefined) continue;
      if (seen.has(values)) this.#refuse(name, row);
      seen.add(values);
    }
  }

  #isDangling(row: Row, fields: string[], target: string): boolean {
    const key = tuple(row, asPaths(fields));
    return key !== undefined && !this.#hasKey(target, key);
  }

  #hasKey(name: string, key: string | undefined): boolean {
    return this.of(name).some(({ row }) => keyIn(this.entity(name), row) === key);
  }

  #refuse(name: string, row: Held): void {
    if (row.lines.length === 0) {
      this.refused.push(-1);
      return;
    }
    this.refused.push(...row.lines);
    this.drop(name, (other) => other === row);
    this.#gone.push({ name, row });
  }

  /** Restores the world's rows in place of refused ones; where there is none, refuses the rows that refer to it. */
  #settle(): void {
    for (let next = this.#gone.shift(); next !== undefined; next = this.#gone.shift()) {
      const { name, row } = next;
      if (row.base !== undefined) this.#restore(name, row.base.row, row.base.at);
      else this.#refuseChildren(name, keyIn(this.entity(name), row.row));
    }
  }

  #restore(name: string, row: Row, at: number): void {
    for (const paths of listsOf(this.entity(name))) {
      const taker = this.of(name).find((other) => {
        const taken = tuple(other.row, paths);
        return taken !== undefined && taken === tuple(row, paths);
      });
      if (taker !== undefined) this.#refuse(name, taker);
    }
    this.add(name, { row, lines: [], at });
  }

  #refuseChildren(name: string, key: string | undefined): void {
    if (this.#hasKey(name, key)) return;
    for (const child of this.#contract.entities) {
      for (const { fields, target } of child.relationships) {
        if (target !== name) continue;
        for (const row of this.ordered(child.name)) {
          if (tuple(row.row, asPaths(fields)) === key) this.#refuse(child.name, row);
        }
      }
    }
  }
}

type Checker = ReturnType<typeof createRowChecker>;

/** Rows that merged lines make, until they are put into the world. */
class MergedRows {
  readonly #world: ImportedRows;
  readonly #checker: Checker;
  readonly #rows = new Map<string, Held[]>();

  constructor(world: ImportedRows, checker: Checker) {
    this.#world = world;
    this.#checker = checker;
  }

  /** Merges a line into the row of its key; returns false if it is refused. */
  take(line: number, { entity: name, row: patch }: Named): boolean {
    const entity = this.#world.entity(name);
    const key = keyIn(entity, patch);
    const isAlike = (other: Held): boolean => keyIn(entity, other.row) === key;
    const list = this.#rows.get(name) ?? [];
    const known = list.find(isAlike);
    const at = this.#world.of(name).findIndex(isAlike);
    const original = this.#world.of(name)[at];
    const row = { ...(known?.row ?? original?.row ?? {}), ...patch };
    if (key === undefined || this.#checker.check(name, row).length > 0) {
      this.#world.refused.push(line);
      return false;
    }
    if (known !== undefined) {
      known.row = row;
      known.lines.push(line);
    } else {
      const base = original && { base: { row: original.row, at } };
      this.#rows.set(name, [...list, { row, lines: [line], at: 0, ...base }]);
    }
    return true;
  }

  /** Puts the rows that differ from the world's in their place. Rows of the tree are added anew, after all others. */
  putInto(tree: Record<string, number>): void {
    for (const [name, list] of this.#rows) {
      let next = firstAdded;
      for (const row of list) {
        const { base } = row;
        if (base !== undefined && isSame(base.row, row.row)) continue;
        if (base !== undefined) {
          this.#world.drop(name, ({ at, lines }) => at === base.at && lines.length === 0);
        }
        const stays = base !== undefined && base.at >= (tree[name] ?? 0);
        row.at = stays ? base.at : next++;
        this.#world.add(name, row);
      }
    }
  }
}

/** Imports lines into a world. `tree` gives how many of the first rows of each entity come from the world's tree. */
export const modelImport = (
  contract: Contract,
  base: Record<string, Row[]>,
  tree: Record<string, number>,
  mode: ImportMode,
  lines: readonly (Named | null)[],
): Modelled => {
  const checker = createRowChecker(contract);
  const fits = ({ entity, row }: Named): boolean => checker.check(entity, row).length === 0;
  const fitting = lines.filter((line) => line !== null).filter(fits);
  const replaced = new Set(mode === 'replace' ? fitting.map(({ entity }) => entity) : []);
  const touched = new Set(replaced);
  const world = new ImportedRows(contract, base);
  for (const name of replaced) world.drop(name, () => true);
  const merged = new MergedRows(world, checker);

  for (const [line, named] of lines.entries()) {
    if (named === null) world.refused.push(line);
    else if (mode === 'merge') {
      if (merged.take(line, named)) touched.add(named.entity);
    } else if (!fits(named)) world.refused.push(line);
    else {
      touched.add(named.entity);
      world.add(named.entity, { row: named.row, lines: [line], at: firstAdded + line });
    }
  }
  merged.putInto(tree);
  world.refuseTwins();
  world.refuseDangling(touched, replaced);

  const rowsOf = (name: string): Row[] => world.ordered(name).map(({ row }) => row);
  const treeLeft = (name: string): number =>
    replaced.has(name) ? 0 : world.ordered(name).filter(({ at }) => at < (tree[name] ?? 0)).length;
  const entries = <Value>(of: (name: string) => Value) =>
    Object.fromEntries(contract.entities.map(({ name }) => [name, of(name)]));
  return {
    refused: world.refused.toSorted((a, b) => a - b),
    rows: entries(rowsOf),
    treeRows: entries(treeLeft),
  };
};
