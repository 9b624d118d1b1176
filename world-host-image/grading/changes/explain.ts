/**
 * Finds which changes a check explains, by the rows that it asks for:
 *
 * - Rows that count now, because they match and pass the check's other tests. An inserted row is explained as a whole,
 *   an updated row in the fields that the check names. The number of explained rows is the check's maximum, or its
 *   minimum if there is no maximum, minus the counted rows that are unchanged.
 * - Rows that no longer match, and that had the related rows that the check asks for. The number of explained rows is
 *   the number by which the rows exceeded the check's maximum.
 * - Related rows. For `any`, one row for each row that needs it; for `all`, updated rows; for `none`, rows that no
 *   longer match.
 *
 * A check of the ledger, or of an answer, asks for no rows of the world and explains no changes.
 */
import { type CheckCount, relatedKinds } from '#language/checks.ts';
import type { EntityContract, FieldPath, Row } from '#language/contract.ts';
import { readFieldPath } from '#language/field-path.ts';
import type { ChangedEntity, ChangedRow, ChangedState, Moment } from './changed-rows.ts';
import { type Claims, type Explained, touchedPaths } from './claims.ts';
import { findRelation, type Relation } from './relations.ts';

export type RelatedCheck = { entity: string; where?: Row | undefined; by?: string[] | undefined };

/** Rows that count for a check: those that match its `where` and also pass its other tests. */
export type CountedRows = {
  holds(row: Row): boolean;
  /** Number of rows that count, in the whole world. If the check has a maximum, the number is not needed and is 0. */
  count: number;
};

/** Members of a check that define which rows it asks for. */
export type ExplainingCheck = {
  name: string;
  entity?: string | undefined;
  where?: Row | undefined;
  count?: CheckCount | undefined;
  changed?: readonly string[] | undefined;
  unchanged?: readonly string[] | undefined;
  increased_by?: Readonly<Record<string, unknown>> | undefined;
  any?: RelatedCheck | undefined;
  all?: RelatedCheck | undefined;
  none?: RelatedCheck | undefined;
  /** Rows that count; absent if every row that matches `where` counts. */
  counted?: CountedRows | undefined;
};

export type ExplainedState = {
  changed: Pick<ChangedState, 'entities'>;
  /** All entities, by the names that checks use. */
  entities: ReadonlyMap<string, Pick<EntityContract, 'primaryKey' | 'relationships'>>;
  /** Returns how many rows of the whole world match all conditions now. */
  count(entity: string, where: readonly Row[]): number;
};

/** Rows that a check could explain, in the fields `named`. The check explains at most `most` of these rows. */
export type Demand = {
  by: string;
  named: readonly FieldPath[];
  rows: readonly ChangedRow[];
  most: number;
};

type Bounds = { min: number; max: number };

const boundsOf = (count: CheckCount = { min: 1 }): Bounds =>
  typeof count === 'number'
    ? { min: count, max: count }
    : { min: count.min ?? 0, max: count.max ?? Number.POSITIVE_INFINITY };

const pathsOf = (...written: (readonly string[])[]): FieldPath[] =>
  written.flat().map(readFieldPath);

const namedBy = ({ where = {}, changed = [], increased_by = {} }: ExplainingCheck): FieldPath[] =>
  pathsOf(Object.keys(where), changed, Object.keys(increased_by));

/**
 * Returns the part of a row that a check explains by the fields it names; undefined if it explains none of the row's
 * changes.
 */
const explainedOf = (row: ChangedRow, named: readonly FieldPath[]): Explained | undefined => {
  if (row.change !== 'updated') return 'all';
  const paths = touchedPaths(row, named);
  return paths.length === 0 ? undefined : paths;
};

/** Finds an entity's changed rows that match a condition: before, now, and at only one of these moments. */
const matchesOf = ({ rows, matching }: ChangedEntity, where: Row, named: readonly FieldPath[]) => {
  const [before, after] = [matching('before', where), matching('after', where)];
  const isAskedFor = (row: ChangedRow): boolean => explainedOf(row, named) !== undefined;
  return {
    /** Number of the changed rows that matched before; `after` is the number of those that match now. */
    before: before.size,
    after: after.size,
    /**
     * Rows that match now; `left` has the rows that matched only before. Both contain only rows that changed in a named
     * field.
     */
    arrived: rows.filter((row, index) => after.has(index) && isAskedFor(row)),
    left: rows.filter((row, index) => before.has(index) && !after.has(index) && isAskedFor(row)),
  };
};

/** Returns how many rows of an entity met both `where` and `link` when the task began. */
const countBefore = (
  state: ExplainedState,
  name: string,
  where: Row,
  link: Row | undefined,
): number => {
  if (link === undefined) return 0;
  const entity = state.changed.entities.get(name);
  const changed = (moment: Moment): number => {
    const tied = entity?.matching(moment, link) ?? new Set();
    return [...(entity?.matching(moment, where) ?? [])].filter((index) => tied.has(index)).length;
  };
  return state.count(name, [where, link]) - changed('after') + changed('before');
};

/**
 * Returns true if a row had the related rows that the check asks for when the task began. The row has been deleted
 * since, or no longer matches.
 */
const countedBefore = (
  state: ExplainedState,
  check: ExplainingCheck,
  { before }: ChangedRow,
): boolean => {
  const row = JSON.parse(before ?? '{}') as Row;
  return relatedKinds.every((kind) => {
    const related = check[kind];
    const relation = related && findRelation(state.entities, check.entity ?? '', related);
    if (related === undefined || relation === undefined) return true;
    const link = relation.conditionsOfRelated(row);
    const matching = countBefore(state, related.entity, related.where ?? {}, link);
    if (kind === 'all') return matching === countBefore(state, related.entity, {}, link);
    return kind === 'any' ? matching > 0 : matching === 0;
  });
};

/** Returns the changes that a check explains because it counts their rows. */
const demandsOfCount = (state: ExplainedState, check: ExplainingCheck): Demand[] => {
  const { name: by, entity: name = '', where = {}, counted } = check;
  const entity = state.changed.entities.get(name);
  if (entity === undefined) return [];
  const named = namedBy(check);
  const { before, after, ...matches } = matchesOf(entity, where, named);
  const left = matches.left.filter((row) => countedBefore(state, check, row));
  /** True if the check compares rows with their state before the task. Only rows that existed then can pass it. */
  const isOfOldRows =
    check.changed !== undefined ||
    check.unchanged !== undefined ||
    check.increased_by !== undefined;
  const counts = ({ after: payload }: ChangedRow): boolean =>
    counted?.holds(JSON.parse(payload ?? '{}') as Row) ?? true;
  const arrived = matches.arrived.filter(
    (row) => (!isOfOldRows || row.change === 'updated') && counts(row),
  );
  const { min, max } = boundsOf(check.count);
  const isBounded = Number.isFinite(max);
  const now = (): number => state.count(name, [where]);
  /** True if only changed rows can meet the check's conditions. */
  const asksForChange = check.changed !== undefined || check.increased_by !== undefined;
  const demands: Demand[] = [];
  if (arrived.length > 0) {
    const all = (): number => counted?.count ?? now();
    const unchanged = isBounded || asksForChange ? 0 : all() - arrived.length;
    demands.push({ by, named, rows: arrived, most: (isBounded ? max : min) - unchanged });
  }
  if (left.length > 0 && isBounded) {
    const surplus = max === 0 ? left.length : now() - after + before - max;
    demands.push({ by, named, rows: left, most: surplus });
  }
  return demands;
};

/** Groups the changed rows of a related entity by the row of the check's entity that they relate to. */
const relatedGroups = (
  state: ExplainedState,
  { where = {} }: ExplainingCheck,
  relation: Relation,
  rows: readonly ChangedRow[],
): ChangedRow[][] => {
  const groups = new Map<string, ChangedRow[] | undefined>();
  for (const row of rows) {
    const link = relation.conditionsOf(JSON.parse(row.after ?? row.before ?? '{}') as Row);
    if (link === undefined) continue;
    const key = JSON.stringify(link);
    if (!groups.has(key)) {
      groups.set(key, state.count(relation.entity, [where, link]) > 0 ? [] : undefined);
    }
    groups.get(key)?.push(row);
  }
  return [...groups.values()].filter((group) => group !== undefined);
};

const demandsOfRelated = (state: ExplainedState, check: ExplainingCheck): Demand[] =>
  (['any', 'all', 'none'] as const).flatMap((kind) => {
    const related = check[kind];
    const entity = related && state.changed.entities.get(related.entity);
    if (related === undefined || entity === undefined) return [];
    const relation = findRelation(state.entities, check.entity ?? '', related);
    if (relation === undefined) return [];
    const { where = {} } = related;
    const named = pathsOf(Object.keys(where));
    const { arrived, left } = matchesOf(entity, where, named);
    const updated = arrived.filter(({ change }) => change === 'updated');
    const rows = { any: arrived, all: updated, none: left }[kind];
    const most = kind === 'any' ? 1 : Number.POSITIVE_INFINITY;
    return relatedGroups(state, check, relation, rows).map((group) => ({
      by: check.name,
      named,
      rows: group,
      most,
    }));
  });

/**
 * Returns the changes that a check could explain. Throws `StoreRefusal` if the check names something that the world
 * does not have.
 */
export const demandsOf = (state: ExplainedState, check: ExplainingCheck): Demand[] => [
  ...demandsOfCount(state, check),
  ...demandsOfRelated(state, check),
];

/**
 * Decides which rows each demand explains. A row may be explained by several checks. A check that has more rows to
 * choose from than it explains prefers rows that are explained already; its last choice are rows that the task allows
 * anyway. Demands with the least choice are therefore processed first.
 */
export const meetDemands = (
  demands: readonly Demand[],
  claims: Claims,
  isAllowed: (row: ChangedRow) => boolean,
): void => {
  const rank = (row: ChangedRow): number => (claims.has(row) ? 0 : isAllowed(row) ? 2 : 1);
  const choice = ({ rows, most }: Demand): number => rows.length - most;
  for (const demand of [...demands].sort((a, b) => choice(a) - choice(b))) {
    const { by, named, most } = demand;
    const rows =
      choice(demand) <= 0
        ? demand.rows
        : [...demand.rows].sort((a, b) => rank(a) - rank(b)).slice(0, Math.max(0, most));
    for (const row of rows) {
      const explained = explainedOf(row, named);
      if (explained !== undefined) claims.add(row, by, explained);
    }
  }
};
