/**
 * Database of a ledger's entries, created when it is first needed. Beyond a limit it drops the oldest entries. The
 * ledger (`ledger.ts`) decides when entries are written to it.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import { ledgerEntityContract } from '#language/sql/ledger-entity.ts';
import { createReader, type Reader } from '#store/read/read.ts';
import { createCatalog } from '#store/tables/catalog.ts';
import { openEmpty } from '#store/tables/open.ts';
import { createStatements } from '#store/tables/statements.ts';

const contract = { entities: [ledgerEntityContract], definitions: {} };

const open = () => {
  const db = openEmpty(contract);
  const prepare = createStatements(db);
  return { db, prepare, reader: createReader(createCatalog(contract), prepare) };
};

/** Table of the ledger `svc_requests`, with its limits. */
export class LedgerTable {
  readonly #limits: { entries: number; bytes: number };
  #opened: ReturnType<typeof open> | undefined;
  #entries = 0;
  #bytes = 0;

  constructor(limits: { entries: number; bytes: number }) {
    this.#limits = limits;
  }

  /** Returns the number of entries in the database. */
  size(): number {
    return this.#entries;
  }

  reader(): Reader {
    return this.#open().reader;
  }

  /** Appends entries, and drops the oldest entries if a limit is exceeded. */
  write(entries: readonly { id: number; json: string }[]): void {
    const { db, prepare } = this.#open();
    db.exec('BEGIN');
    const insert = prepare(`INSERT INTO ${ledgerEntity} (_key, payload) VALUES (?, ?)`);
    for (const { id, json } of entries) {
      insert.run(JSON.stringify([id]), json);
      this.#bytes += Buffer.byteLength(json);
    }
    this.#entries += entries.length;
    this.#dropOldest();
    db.exec('COMMIT');
  }

  clear(): void {
    this.#opened?.db.exec(`DELETE FROM ${ledgerEntity}`);
    this.#entries = 0;
    this.#bytes = 0;
  }

  close(): void {
    this.#opened?.db.close();
  }

  #open(): ReturnType<typeof open> {
    this.#opened ??= open();
    return this.#opened;
  }

  #dropOldest(): void {
    const { prepare } = this.#open();
    const oldest = prepare(`DELETE FROM ${ledgerEntity}
      WHERE rowid = (SELECT min(rowid) FROM ${ledgerEntity}) RETURNING octet_length(payload) AS size`);
    while (this.#entries > this.#limits.entries || this.#bytes > this.#limits.bytes) {
      this.#bytes -= Number(oldest.get()?.size);
      this.#entries -= 1;
    }
  }
}
