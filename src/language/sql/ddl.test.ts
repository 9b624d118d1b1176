import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { contractOf } from '#test/support/worlds/small-world.ts';
import type { Contract, EntityContract } from '../contract.ts';
import { createTablesSql } from './ddl.ts';

const open = (contract: Pick<Contract, 'entities'>) => {
  const db = new DatabaseSync(':memory:');
  db.exec(createTablesSql(contract));
  const insert = (entity: string, row: Record<string, unknown>): void => {
    db.prepare(`INSERT INTO "${entity}" (_key, payload) VALUES (?, ?)`).run(
      JSON.stringify(row.id),
      JSON.stringify(row),
    );
  };
  return { db, insert };
};

const entity = (more: Partial<EntityContract>): EntityContract => ({
  name: 'things',
  schema: { type: 'object' },
  primaryKey: ['id'],
  unique: [],
  relationships: [],
  columns: [{ name: 'id', type: 'INTEGER' }],
  ...more,
});

describe('createTablesSql', () => {
  it('returns readable SQL', () => {
    expect(createTablesSql(contractOf())).toMatchInlineSnapshot(`
      "CREATE TABLE "lists" (
        _key TEXT PRIMARY KEY NOT NULL,
        payload TEXT NOT NULL,
        "id" INTEGER GENERATED ALWAYS AS (payload ->> '$."id"') VIRTUAL,
        "name" TEXT GENERATED ALWAYS AS (payload ->> '$."name"') VIRTUAL
      );
      CREATE UNIQUE INDEX "svc_lists_key" ON "lists" ("id");
      CREATE UNIQUE INDEX "svc_lists_unique_1" ON "lists" ("name");
      CREATE TABLE "cards" (
        _key TEXT PRIMARY KEY NOT NULL,
        payload TEXT NOT NULL,
        "id" INTEGER GENERATED ALWAYS AS (payload ->> '$."id"') VIRTUAL,
        "list_id" INTEGER GENERATED ALWAYS AS (payload ->> '$."list_id"') VIRTUAL,
        "title" TEXT GENERATED ALWAYS AS (payload ->> '$."title"') VIRTUAL,
        "state" TEXT GENERATED ALWAYS AS (payload ->> '$."state"') VIRTUAL,
        "estimate" REAL GENERATED ALWAYS AS (payload ->> '$."estimate"') VIRTUAL,
        "code" TEXT GENERATED ALWAYS AS (payload ->> '$."code"') VIRTUAL,
        "done_early" INTEGER GENERATED ALWAYS AS (payload ->> '$."done_early"') VIRTUAL,
        "created_at" TEXT GENERATED ALWAYS AS (payload ->> '$."created_at"') VIRTUAL,
        FOREIGN KEY ("list_id") REFERENCES "lists" ("id") DEFERRABLE INITIALLY DEFERRED
      );
      CREATE UNIQUE INDEX "svc_cards_key" ON "cards" ("id");
      CREATE UNIQUE INDEX "svc_cards_unique_1" ON "cards" (json_extract(payload, '$."author"."login"'), "title");
      CREATE INDEX "svc_cards_reference_1" ON "cards" ("list_id");
      CREATE TABLE "hooks" (
        _key TEXT PRIMARY KEY NOT NULL,
        payload TEXT NOT NULL,
        "id" INTEGER GENERATED ALWAYS AS (payload ->> '$."id"') VIRTUAL,
        "active" INTEGER GENERATED ALWAYS AS (payload ->> '$."active"') VIRTUAL
      );
      CREATE UNIQUE INDEX "svc_hooks_key" ON "hooks" ("id");
      "
    `);
  });

  it('makes a typed column for each scalar field of the payload', () => {
    const { db, insert } = open(contractOf());
    insert('lists', { id: 1, name: '5' });
    insert('cards', { id: 7, list_id: 1, title: 't', author: {}, done_early: true, estimate: 2 });
    const row = db
      .prepare('SELECT id, title, done_early, estimate, typeof(estimate) AS kind FROM cards')
      .get();
    expect({ ...row }).toEqual({ id: 7, title: 't', done_early: 1, estimate: 2, kind: 'real' });
    expect(db.prepare("SELECT id FROM lists WHERE name = '5'").get()?.id).toBe(1);
  });

  it('enforces unique lists, also of nested fields, and accepts repeated null values', () => {
    const { insert } = open(contractOf());
    insert('lists', { id: 1, name: 'a' });
    const by = (login: string | null) => ({ list_id: 1, title: 't', author: { login } });
    insert('cards', { id: 1, ...by('ada') });
    insert('cards', { id: 2, ...by('bob') });
    expect(() => insert('cards', { id: 3, ...by('ada') })).toThrow(/UNIQUE/);
    insert('cards', { id: 4, ...by(null) });
    insert('cards', { id: 5, ...by(null) });
  });

  it('makes SQLite check foreign keys when a transaction ends, whatever the order of rows', () => {
    const { db, insert } = open(contractOf());
    db.exec('PRAGMA foreign_keys = ON; BEGIN');
    insert('cards', { id: 1, list_id: 1, title: 't', author: { login: 'a' } });
    insert('lists', { id: 1, name: 'a' });
    db.exec('COMMIT; BEGIN');
    db.exec('DELETE FROM lists');
    expect(() => db.exec('COMMIT')).toThrow(/FOREIGN KEY/);
  });

  it('creates an index by which dependents are found', () => {
    const { db } = open(contractOf());
    const [step] = db.prepare('EXPLAIN QUERY PLAN SELECT 1 FROM cards WHERE list_id = 1').all();
    expect(step?.detail).toContain('svc_cards_reference_1');
  });

  it('quotes names that are words of SQL', () => {
    const { db, insert } = open({
      entities: [
        entity({
          name: 'select',
          columns: [
            { name: 'id', type: 'INTEGER' },
            { name: 'order', type: 'TEXT' },
            { name: 'rowid', type: 'TEXT' },
          ],
          unique: [[['order']], [['a b', "it's"]]],
        }),
      ],
    });
    insert('select', { id: 1, order: 'x', rowid: 'r', 'a b': { "it's": 1 } });
    expect(db.prepare('SELECT "order" AS o FROM "select"').get()?.o).toBe('x');
    const twin = { id: 2, order: 'y', rowid: 's', 'a b': { "it's": 1 } };
    expect(() => insert('select', twin)).toThrow(/UNIQUE/);
  });

  it('makes a table with the maximum number of fields', () => {
    const columns = Array.from({ length: 500 }, (_, index) => ({
      name: `field_${index}`,
      type: 'TEXT' as const,
    }));
    const { insert } = open({
      entities: [entity({ columns: [...columns, ...entity({}).columns] })],
    });
    insert('things', { id: 1, field_499: 'x' });
  });
});
