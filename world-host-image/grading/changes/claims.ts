/**
 * Records which check or allowance explains which part of a change. A claim covers a whole row, or some of the row's
 * fields by paths: a claim on `address.city` explains that the city changed, but not that the street did.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#domain/json.ts';
import type { FieldPath, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import type { ChangedRow } from './changed-rows.ts';

/** Part of a row that a claim explains. */
export type Explained = 'all' | readonly FieldPath[];

/** Claim of a check or an allowance; `by` is the name that the report uses for it. */
type Claim = { by: string; explained: Explained };

export type Claims = {
  add(row: ChangedRow, by: string, explained: Explained): void;
  /** Returns true if any claim covers some part of a row. */
  has(row: ChangedRow): boolean;
  /** Returns the names of the claims on a row. */
  explainedBy(row: ChangedRow): string[];
  /** Returns the names of the changed fields that no claim explains. */
  unexplained(row: ChangedRow): string[];
};

const beginsWith = (path: FieldPath, start: FieldPath): boolean =>
  start.every((name, index) => path[index] === name);

/** Returns true if every difference between two values at a path lies at one of the named paths, or inside of it. */
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

/** Makes an empty set of claims. */
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

/**
 * Returns the named paths whose top-level field differs between the row's two states. These are the paths that a claim
 * on the row covers.
 */
export const touchedPaths = (row: ChangedRow, named: readonly FieldPath[]): FieldPath[] =>
  named.filter(([field = '']) => row.fields.includes(field));
