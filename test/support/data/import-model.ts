/**
 * Reference model of imports, written as plainly as possible: rows in lists, and linear searches. Tests compare the
 * engine with it.
 */

import type { ImportMode } from '#data/import/plan.ts';
import type { Contract, EntityContract, FieldPath, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { createRowChecker } from '#language/schema/checkers.ts';
import type { Named } from './import-files.ts';

/** A row with the lines that made it; `base` is set if the world had a row of its key. */
type Held = { row: Row; lines: number[]; base?: { row: Row; at: number }; at: number };

export type Modelled = {
  /** Lines that were refused, in order; -1 for rows of the world. */
  refused: number[];
  rows: Record<string, Row[]>;
  treeRows: Record<string, number>;
};

type World = Map<string, Held[]>;

const tuple = (row: Row, paths: readonly FieldPath[]): string | undefined => {
  const values = paths.map((path) => valueAtPath(row, path) ?? null);
  return values.includes(null) ? undefined : JSON.stringify(values);
};
const asPaths = (fields: readonly string[]): FieldPath[] => fields.map((field) => [field]);
const keyIn = ({ primaryKey }: EntityContract, row: Row) => tuple(row, asPaths(primaryKey));
const isSame = (one: Row, other: Row): boolean => JSON.stringify(one) === JSON.stringify(other);
const rank = ({ lines }: Held): number => lines[0] ?? -1;

export const modelImport = (
  contract: Contract,
  base: Record<string, Row[]>,
  tree: Record<string, number>,
  mode: ImportMode,
  lines: readonly (Named | null)[],
): Modelled => {
  const checker = createRowChecker(contract);
  const entityOf = (name: string) =>
    contract.entities.find((each) => each.name === name) as EntityContract;
  const refused: number[] = [];
  const fits = (line: Named | null): line is Named =>
    line !== null && checker.check(line.entity, line.row).length === 0;
  const fitting = lines.filter(fits).map(({ entity }) => entity);
  const replaced = new Set(mode === 'replace' ? fitting : []);
  const touched = new Set(replaced);
  const world: World = new Map(
    contract.entities.map(({ name }) => [
      name,
      replaced.has(name) ? [] : (base[name] ?? []).map((row, at): Held => ({ row, lines: [], at })),
    ]),
  );
  const held = (name: string): Held[] => world.get(name) ?? [];
  const merged = new Map<string, Held[]>();

  const takeMerged = (line: number, { entity: name, row: patch }: Named): void => {
    const entity = entityOf(name);
    const key = keyIn(entity, patch);
    const list = merged.get(name) ?? [];
    const known = list.find((other) => keyIn(entity, other.row) === key);
    const at = held(name).findIndex((other) => keyIn(entity, other.row) === key);
    const before = known?.row ?? held(name)[at]?.row ?? {};
    const row = { ...before, ...patch };
    if (key === undefined || checker.check(name, row).length > 0) return void refused.push(line);
    touched.add(name);
    if (known !== undefined) {
      known.row = row;
      known.lines.push(line);
      return;
    }
    const original = held(name)[at];
    merged.set(name, [
      ...list,
      { row, lines: [line], at: 0, ...(original && { base: { row: original.row, at } }) },
    ]);
  };
  for (const [line, named] of lines.entries()) {
    if (named === null) refused.push(line);
    else if (mode === 'merge') takeMerged(line, named);
    else if (!fits(named)) refused.push(line);
    else {
      touched.add(named.entity);
      held(named.entity).push({ row: named.row, lines: [line], at: 1e6 + line });
    }
  }
  for (const [name, list] of merged) {
    let next = 1e6;
    for (const row of list) {
      if (row.base !== undefined && isSame(row.base.row, row.row)) continue;
      const { base: original } = row;
      if (original !== undefined) {
        world.set(
          name,
          held(name).filter(({ at, lines: of }) => at !== original.at || of.length > 0),
        );
      }
      const stays = original !== undefined && original.at >= (tree[name] ?? 0);
      row.at = stays ? original.at : next++;
      held(name).push(row);
    }
  }

  const gone: { name: string; held: Held }[] = [];
  const remove = (name: string, row: Held): void => {
    if (row.lines.length === 0) return void refused.push(-1);
    refused.push(...row.lines);
    world.set(
      name,
      held(name).filter((other) => other !== row),
    );
    gone.push({ name, held: row });
  };
  const ordered = (name: string): Held[] => held(name).toSorted((a, b) => a.at - b.at);
  const listsOf = (entity: EntityContract) => [asPaths(entity.primaryKey), ...entity.unique];
  const isDangling = (row: Row, fields: string[], target: string): boolean => {
    const key = tuple(row, asPaths(fields));
    return (
      key !== undefined &&
      !held(target).some((parent) => keyIn(entityOf(target), parent.row) === key)
    );
  };
  const restore = (name: string, row: Row, at: number): void => {
    for (const paths of listsOf(entityOf(name))) {
      const taker = held(name).find((other) => {
        const taken = tuple(other.row, paths);
        return taken !== undefined && taken === tuple(row, paths);
      });
      if (taker !== undefined) remove(name, taker);
    }
    held(name).push({ row, lines: [], at });
  };
  const settle = (): void => {
    for (let next = gone.shift(); next !== undefined; next = gone.shift()) {
      const { name, held: out } = next;
      if (out.base !== undefined) {
        restore(name, out.base.row, out.base.at);
        continue;
      }
      const key = keyIn(entityOf(name), out.row);
      if (held(name).some((other) => keyIn(entityOf(name), other.row) === key)) continue;
      for (const child of contract.entities) {
        for (const { fields, target } of child.relationships) {
          if (target !== name) continue;
          for (const row of ordered(child.name)) {
            if (tuple(row.row, asPaths(fields)) === key) remove(child.name, row);
          }
        }
      }
    }
  };
  for (const entity of contract.entities) {
    for (const paths of listsOf(entity)) {
      const seen = new Set<string>();
      for (const row of held(entity.name).toSorted((a, b) => rank(a) - rank(b))) {
        const values = tuple(row.row, paths);
        if (values === undefined) continue;
        if (seen.has(values)) remove(entity.name, row);
        seen.add(values);
      }
    }
  }
  settle();
  for (const { name, relationships } of contract.entities) {
    for (const { fields, target } of relationships) {
      if (!touched.has(name) && !replaced.has(target)) continue;
      const dangling = ordered(name).filter(({ row }) => isDangling(row, fields, target));
      for (const row of dangling) remove(name, row);
    }
  }
  settle();
  const rowsOf = (name: string): Row[] => ordered(name).map(({ row }) => row);
  const treeLeft = (name: string): number =>
    replaced.has(name) ? 0 : ordered(name).filter(({ at }) => at < (tree[name] ?? 0)).length;
  const entries = <Value>(of: (name: string) => Value) =>
    Object.fromEntries(contract.entities.map(({ name }) => [name, of(name)]));
  return {
    refused: refused.toSorted((a, b) => a - b),
    rows: entries(rowsOf),
    treeRows: entries(treeLeft),
  };
};
