/**
 * Frozen copy of rows: it is read like the store from which it is copied, and never changes. Rows are copied in
 * batches, so that other work runs between two batches. The copy has a size limit of its own, because it is in memory
 * beside the store. For a store on a base file, only rows that may differ from the file are copied; the other rows are
 * read from the file.
 */

import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Contract, Row } from '#language/contract.ts';
import { createTablesSql } from '#language/sql/ddl.ts';
import type { StoreReader, UponFile } from './assemble.ts';
import { createReader, type Reader } from './read/read.ts';
import { StoreRefusal } from './refusal.ts';
import { type CatalogEntity, createCatalog } from './tables/catalog.ts';
import { keyFrom } from './tables/keys.ts';
import { boundBytes, openEmpty, openOnFile, pageBytes } from './tables/open.ts';
import { createStatements, type Statements } from './tables/statements.ts';
import { isFull } from './write/collisions.ts';
import { createKeptNumbers, keptNumbersTable, writeKept } from './write/kept-numbers.ts';
import { createNextNumber, type NumberKeeper, type Numbers } from './write/numbers.ts';

export type FrozenRows = Reader &
  Numbers & {
    /** Discards the copy. */
    close(): void;
  };

type Lister = Pick<Reader, 'list'> &
  Partial<Pick<NumberKeeper, 'keptNumbers'> & Pick<StoreReader, 'upon' | 'rowAt'>>;

const rowsAtOnce = 500;

const insertText = ({ table, position }: CatalogEntity): string =>
  `INSERT INTO ${table} (${position}, _key, payload) VALUES (?, ?, ?)`;

const copyRows = async (
  prepare: Statements,
  entity: CatalogEntity,
  source: Lister,
  behind?: number,
): Promise<void> => {
  const { name, primaryKey } = entity;
  let position = behind ?? 0;
  let after = behind;
  for (;;) {
    const page = source.list(name, { after, limit: rowsAtOnce });
    for (const payload of page.rows) {
      position += 1;
      const key = keyFrom(JSON.parse(payload) as Row, primaryKey) ?? null;
      prepare(insertText(entity)).run(position, key, payload);
    }
    if (!page.more) return;
    after = page.last;
    await setImmediate();
  }
};

/**
 * Copies from a source on a base file to a database on the same file: the rows that may differ from the file's, and the
 * rows after the file's last.
 */
const copyDifferences = async (
  prepare: Statements,
  entity: CatalogEntity,
  source: Lister,
  upon: UponFile,
): Promise<void> => {
  const { name, position, primaryKey, table } = entity;
  const touched = [...upon.of(name)].sort((a, b) => a - b);
  for (const at of touched) prepare(`DELETE FROM ${table} WHERE ${position} = ?`).run(at);
  for (const at of touched) {
    const payload = source.rowAt?.(name, at);
    if (payload === undefined) continue;
    const key = keyFrom(JSON.parse(payload) as Row, primaryKey) ?? null;
    prepare(insertText(entity)).run(at, key, payload);
  }
  await copyRows(prepare, entity, source, upon.last(name));
};

/**
 * Opens the database for the copy, with a transaction in progress: empty, or on the base file of the sources, to which
 * nothing is written.
 */
const openCopy = (
  contract: Pick<Contract, 'entities'>,
  uponOf: (entity: string) => UponFile | undefined,
  maxBytes: number,
): DatabaseSync => {
  const paths = contract.entities.flatMap(({ name }) => uponOf(name)?.path ?? []);
  const [path] = paths;
  if (path === undefined) {
    const db = openEmpty(contract);
    boundBytes(db, maxBytes);
    db.exec('BEGIN');
    return db;
  }
  const { db, base } = openOnFile(path);
  boundBytes(db, maxBytes + (base?.pages ?? 0) * pageBytes);
  const own = contract.entities.filter(({ name }) => uponOf(name) === undefined);
  db.exec(`BEGIN; ${createTablesSql({ entities: own })} ${keptNumbersTable};`);
  db.exec('DELETE FROM svc_numbers');
  return db;
};

/**
 * Copies all rows of the entities, each from the source that `sourceOf` returns. The rows must not change meanwhile.
 * Throws `StoreRefusal` of kind `full` if the rows take more than `maxBytes`.
 */
export const freezeRows = async (
  contract: Pick<Contract, 'entities' | 'definitions'>,
  sourceOf: (entity: string) => Lister,
  maxBytes: number,
): Promise<FrozenRows> => {
  let copied = contract.entities[0]?.name ?? '';
  const uponOf = (entity: string): UponFile | undefined => sourceOf(entity).upon;
  let db: DatabaseSync | undefined;
  try {
    const copy = openCopy(contract, uponOf, maxBytes);
    db = copy;
    const catalog = createCatalog(contract);
    const prepare = createStatements(copy);
    for (const entity of catalog.entities) {
      copied = entity.name;
      const source = sourceOf(copied);
      if (source.upon === undefined) await copyRows(prepare, entity, source);
      else await copyDifferences(prepare, entity, source, source.upon);
      writeKept(copy, source.keptNumbers?.(copied) ?? []);
    }
    const nextNumber = createNextNumber(catalog, prepare, createKeptNumbers(copy, prepare));
    return { ...createReader(catalog, prepare), nextNumber, close: () => copy.close() };
  } catch (error) {
    db?.close();
    if (!isFull(error)) throw error;
    const detail = `a copy of the rows takes more than ${Math.floor(maxBytes / 2 ** 20)} MiB`;
    throw new StoreRefusal({ entity: copied, kind: 'full', detail });
  }
};
