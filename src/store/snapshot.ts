/**
 * Builds the snapshot of a world version from its base rows. The control plane stores the snapshot when it makes a
 * version, and every host that serves the version opens it.
 */
import type { Digest } from '#domain/world.ts';
import type { Contract, Row } from '#language/contract.ts';
import { assembleStore } from './assemble.ts';
import { digestOfSum } from './read/state-digest.ts';
import { StoreRefusal } from './refusal.ts';
import { keyFrom } from './tables/keys.ts';
import { packSnapshot } from './tables/open.ts';
import type { Writer } from './write/write.ts';

export type Rows = Record<string, readonly Row[]>;

export type BuiltSnapshot = {
  bytes: Uint8Array;
  /** Number of rows by entity. */
  counts: Record<string, number>;
  /** Digest of the state; a host that opens the snapshot computes the digest again and compares. */
  digest: Digest;
};

/**
 * Inserts rows in the current transaction, in the order given. Throws `StoreRefusal` with the index of the row in its
 * entity's list.
 */
export const insertRows = (insert: Writer['insert'], rows: Rows): void => {
  for (const [entity, list] of Object.entries(rows)) {
    for (const [index, row] of list.entries()) {
      try {
        insert(entity, row);
      } catch (error) {
        throw error instanceof StoreRefusal ? error.at(index) : error;
      }
    }
  }
};

/**
 * Adds the row's index to a refusal that names its row by key, as refusals of foreign keys do. Returns the refusal
 * unchanged if `rows` lacks that row.
 */
export const locateRefusal = (
  refusal: StoreRefusal,
  contract: Contract,
  rows: Rows,
): StoreRefusal => {
  const entity = contract.entities.find(({ name }) => name === refusal.entity);
  if (refusal.index !== undefined || refusal.key === undefined || !entity) return refusal;
  const list = rows[refusal.entity] ?? [];
  const index = list.findIndex((row) => keyFrom(row, entity.primaryKey) === refusal.key);
  return index === -1 ? refusal : refusal.at(index);
};

/**
 * Builds the snapshot. Throws `StoreRefusal` naming entity and row index for the first row that cannot be stored.
 * `areChecked` is true if the contract's row checker has accepted all rows, as with rows of a compiled tree.
 */
export const buildSnapshot = (
  contract: Contract,
  rows: Rows,
  { areChecked = false }: { areChecked?: boolean } = {},
): BuiltSnapshot => {
  const { db, reader, writer, transactions } = assembleStore({ contract });
  try {
    transactions.begin();
    insertRows(areChecked ? writer.insertChecked : writer.insert, rows);
    transactions.commit();
    const counts = reader.counts();
    const sum = transactions.sum();
    return { bytes: packSnapshot(db, { sum, counts }), counts, digest: digestOfSum(sum) };
  } catch (error) {
    throw error instanceof StoreRefusal ? locateRefusal(error, contract, rows) : error;
  } finally {
    db.close();
  }
};
