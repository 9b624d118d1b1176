/**
 * Net change of each row in a transaction: the row before the first change and after the last. An insert followed by a
 * delete is no change, and neither is a change back to the same text.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ChangeCounts } from '#domain/call.ts';
import type { Row } from '#language/contract.ts';
import type { CatalogEntity } from '../tables/catalog.ts';
import { fieldsOfKey } from '../tables/keys.ts';

export type TouchedRow = {
  entity: CatalogEntity;
  key: string;
  /** Payload texts; undefined if there is no row. */
  before: string | undefined;
  after: string | undefined;
  /** Position of the row; for a removed row, its last position. */
  position: number;
};

export type RowChange = {
  entity: string;
  /** Primary-key fields with their values. A row whose key changed is reported as one deletion and one insertion. */
  key: Row;
  change: 'inserted' | 'updated' | 'deleted';
  /** Top-level fields of an updated row whose values differ from those before the transaction. */
  fields?: string[];
};

export type WriteSet = {
  record(touched: TouchedRow): void;
  /** Returns the rows that differ from before the transaction, in the order in which they were first written. */
  changed(): TouchedRow[];
};

export const createWriteSet = (): WriteSet => {
  const rows = new Map<string, TouchedRow>();
  return {
    record(touched) {
      const id = `${touched.entity.name}\n${touched.key}`;
      const known = rows.get(id);
      if (known === undefined) rows.set(id, { ...touched });
      else known.after = touched.after;
    },
    changed: () => [...rows.values()].filter(({ before, after }) => before !== after),
  };
};

const changeOf = ({ before, after }: TouchedRow): RowChange['change'] => {
  if (before === undefined) return 'inserted';
  return after === undefined ? 'deleted' : 'updated';
};

const fieldsThatDiffer = (before: string, after: string): string[] => {
  const [was, is] = [JSON.parse(before) as Row, JSON.parse(after) as Row];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (field) => !Object.is(was[field], is[field]) && !isDeepStrictEqual(was[field], is[field]),
  );
};

/** Returns the changes in the form for callers, one for each row. */
export const rowChanges = (touched: readonly TouchedRow[]): RowChange[] =>
  touched.map((row) => {
    const { entity, key, before, after } = row;
    return {
      entity: entity.name,
      key: fieldsOfKey(entity, key),
      change: changeOf(row),
      ...(before !== undefined && after !== undefined
        ? { fields: fieldsThatDiffer(before, after) }
        : {}),
    };
  });

/** Counts the changes by entity; entities without a change are left out. */
export const countChanges = (rows: readonly RowChange[]): ChangeCounts => {
  const counts: ChangeCounts = {};
  for (const { entity, change } of rows) {
    counts[entity] ??= { inserted: 0, updated: 0, deleted: 0 };
    counts[entity][change] += 1;
  }
  return counts;
};
