/**
 * Adds a few rows to a large world: copies its file with the indexes and inserts the rows, which takes a fraction of
 * the time of building all tables anew. This works only if no row has a fault. Otherwise the import builds all tables
 * anew, which finds and describes every fault. Both ways give the same rows.
 */
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { quoteName } from '#language/sql/ddl.ts';
import type { Catalog } from '#store/tables/catalog.ts';
import { readSummary } from '#store/tables/open.ts';
import type { ImportDatabase } from './database.ts';
import { lastOfBase } from './landing.ts';
import type { ImportPlan } from './plan.ts';

/** Thrown if the rows cannot be added to a copy of the world's file, so that all tables have to be built anew. */
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

/**
 * Returns true if a plan has so few rows, compared with the world's, that they are added to a copy of the world's file.
 */
export const isForGrowth = (
  { base, mode, atomic, chunks }: ImportPlan,
  growthShare: number,
): boolean => {
  if (base === null || mode !== 'append' || !atomic) return false;
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  return rows * growthShare <= countBase(base.file);
};

export type Growth = {
  /**
   * Checks the references of the added rows, once all are inserted. Throws `NotGrown` if a reference leads to no row.
   */
  check(): void;
};

/** Prepares the database; must be called before the first row is added. */
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
