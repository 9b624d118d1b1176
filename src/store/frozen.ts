/**
 * A frozen copy of rows: read like the store that they are copied from, and changed by nobody. It is
 * made in portions, so that others have their turn between two of them, and has a limit of its own: it
 * lies in memory beside the store.
 */
import { setImmediate } from 'node:timers/promises';
import type { Contract, Row } from '#language/contract.ts';
import { createReader, type Reader } from './read/read.ts';
import { StoreRefusal } from './refusal.ts';
import { type CatalogEntity, createCatalog } from './tables/catalog.ts';
import { keyFrom } from './tables/keys.ts';
import { boundBytes, openEmpty } from './tables/open.ts';
import { createStatements, type Statements } from './tables/statements.ts';
import { isFull } from './write/collisions.ts';
import { createKeptNumbers, writeKept } from './write/kept-numbers.ts';
import { createNextNumber, type NumberKeeper, type Numbers } from './write/numbers.ts';

export type FrozenRows = Reader &
  Numbers & {
    /** Lets go of the copy. */
    close(): void;
  };

type Lister = Pick<Reader, 'list'> & Partial<Pick<NumberKeeper, 'keptNumbers'>>;

const rowsAtOnce = 500;

const copyRows = async (
  prepare: Statements,
  { name, table, primaryKey }: CatalogEntity,
  source: Lister,
): Promise<void> => {
  const text = `INSERT INTO ${table} (_key, payload) VALUES (?, ?)`;
  let after: number | undefined;
  for (;;) {
    const page = source.list(name, { after, limit: rowsAtOnce });
    for (const payload of page.rows) {
      prepare(text).run(keyFrom(JSON.parse(payload) as Row, primaryKey) ?? null, payload);
    }
    if (!page.more) return;
    after = page.last;
    await setImmediate();
  }
};

/**
 * Copies all rows of the entities, each from the source that `sourceOf` names; to be called while
 * nothing changes them. Throws `StoreRefusal` of kind `full` when they take more than `maxBytes`.
 */
export const freezeRows = async (
  contract: Pick<Contract, 'entities' | 'definitions'>,
  sourceOf: (entity: string) => Lister,
  maxBytes: number,
): Promise<FrozenRows> => {
  const db = openEmpty(contract);
  let copied = contract.entities[0]?.name ?? '';
  try {
    boundBytes(db, maxBytes);
    const catalog = createCatalog(contract);
    const prepare = createStatements(db);
    db.exec('BEGIN');
    for (const entity of catalog.entities) {
      copied = entity.name;
      const source = sourceOf(copied);
      await copyRows(prepare, entity, source);
      writeKept(db, source.keptNumbers?.(copied) ?? []);
    }
    db.exec('COMMIT');
    const nextNumber = createNextNumber(catalog, prepare, createKeptNumbers(db, prepare));
    return { ...createReader(catalog, prepare), nextNumber, close: () => db.close() };
  } catch (error) {
    db.close();
    if (!isFull(error)) throw error;
    const detail = `a copy of the rows takes more than ${Math.floor(maxBytes / 2 ** 20)} MiB`;
    throw new StoreRefusal({ entity: copied, kind: 'full', detail });
  }
};
