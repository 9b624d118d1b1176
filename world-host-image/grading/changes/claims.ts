/**
 * Who explains which part of a change. A claim is on a whole row or on some of its fields, by paths: who names
 * `address.city` explains that the city changed, and not the street beside it.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#domain/json.ts';
import type { FieldPath, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import type { ChangedRow } from './changed-rows.ts';

/** What is explained of a row. */
export type Explained = 'all' | readonly FieldPath[];

/** By whom, as the report names them. */
type Claim = { by: string; explained: Explained };

export type Claims = {
  add(row: ChangedRow, by: string, explained: Explained): void;
  /** Whether somebody explains anything of a row. */
  has(row: ChangedRow): boolean;
  /** Whose claims there are on a row. */
  explainedBy(row: ChangedRow): string[];
  /** Fields that differ and that nobody explains. */
  unexplained(row: ChangedRow): string[];
};

const beginsWith = (path: FieldPath, start: FieldPath): boolean =>
  start.every((name, index) => path[index] === name);

/** Whether all that differs between two values at a path lies at, or within, one of the paths that are named. */
export const isCovered = (
  path: FieldPath,
  [before, after]: readonly [unknown, unknown],
  named: readonly FieldPath[],
): boolean => {
  if (isDeepStrictEqual(before, after)) return true;
  if (named.some((name) => beginsWith(path, name))) return true;
  if (!named.some((name) => beginsWith(name, path))) return false;
  const names = [before, after].flatMap((value) => (isObject(value) ? Object.keys(value) : []));
  return (
    names.length > 0 &&
    names.every((name) =>
      isCovered([...path, name], [valueAtPath(before, [name]), valueAtPath(after, [name])], named),
    )
  );
};

const parse = (payload: string | null): Row => JSON.parse(payload ?? '{}') as Row;

/** No claims at first. */
export const createClaims = (): Claims => {
  const claims = new Map<ChangedRow, Claim[]>();
  const of = (row: ChangedRow): readonly Claim[] => claims.get(row) ?? [];
  const isWhole = (row: ChangedRow): boolean =>
    of(row).some(({ explained }) => explained === 'all');
  return {
    add(row, by, explained) {
      const known = claims.get(row);
      if (known === undefined) claims.set(row, [{ by, explained }]);
      else known.push({ by, explained });
    },
    has: (row) => claims.has(row),
    explainedBy: (row) => [...new Set(of(row).map(({ by }) => by))],
    unexplained(row) {
      if (isWhole(row)) return [];
      if (row.change !== 'updated' || !claims.has(row)) return [...row.fields];
      const named = of(row).flatMap(({ explained }) => (explained === 'all' ? [] : explained));
      const [before, after] = [parse(row.before), parse(row.after)];
      return row.fields.filter(
        (field) =>
          !isCovered([field], [valueAtPath(before, [field]), valueAtPath(after, [field])], named),
      );
    },
  };
};

/** Those of the paths at or around which a row differs: what a claim on them says of it. */
export const touchedPaths = (row: ChangedRow, named: readonly FieldPath[]): FieldPath[] =>
  named.filter(([field = '']) => row.fields.includes(field));
