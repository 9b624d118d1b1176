/**
 * A few rows for a large world: its file is copied with the indexes, and the rows are added, which takes a fraction of the
 * time of making all tables anew. It is done for rows that nothing is wrong with. Where anything is, the import is
 * done the other way, which finds all that is wrong and words it; so the rows that come of it are the same either way.
 */
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { quoteName } from '#language/sql/ddl.ts';
import type { Catalog } from '#store/tables/catalog.ts';
import { readSummary } from '#store/tables/open.ts';
import type { ImportDatabase } from './database.ts';
import { lastOfBase } from './landing.ts';
import type { ImportPlan } from './plan.ts';

/** Thrown where rows cannot just be added. */
export class NotGrown extends Error {}

const countBase = (file: string): number => {
  const db = new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true });
  try {
    const { counts } = readSummary(db);
    return [...(counts?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  } finally {
    db.close();
  }
};

/** Whether the rows of a plan are so few, beside those of the world, that they are added. */
export const isForGrowth = (
  { base, mode, atomic, chunks }: ImportPlan,
  growthShare: number,
): boolean => {
  if (base === null || mode !== 'append' || !atomic) return false;
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  return rows * growthShare <= countBase(base.file);
};

export type Growth = {
  /** Throws `NotGrown` when a row that was added refers to none. To be called once all are there. */
  check(): void;
};

/** To be called before the first row is added. */
export const beginGrowth = (database: ImportDatabase, catalog: Catalog): Growth => {
  const { db } = database;
  db.exec('DROP TABLE main.svc_store; DROP TABLE IF EXISTS main.svc_counts;');
  const lasts = new Map(catalog.entities.map((entity) => [entity, lastOfBase(database, entity)]));
  return {
    check() {
      for (const [child, last] of lasts) {
        for (const { fields, target } of child.references) {
          const parent = catalog.entity(target);
          const present = fields.map((field) => `c.${quoteName(field)} IS NOT NULL`).join(' AND ');
          const same = fields
            .map(
              (field, at) => `p.${quoteName(parent.primaryKey[at] ?? '')} = c.${quoteName(field)}`,
            )
            .join(' AND ');
          const dangling = db.prepare(
            `SELECT 1 FROM main.${child.table} c NOT INDEXED WHERE c.${child.position} > ? AND ${present}
             AND NOT EXISTS (SELECT 1 FROM main.${parent.table} p WHERE ${same}) LIMIT 1`,
          );
          if (dangling.get(last) !== undefined) throw new NotGrown();
        }
      }
    },
  };
};
