/**
 * The request ledger of a session: what was asked of it, by tool calls and over its API, and what it
 * answered. It is read like an entity, `svc_requests`, by `state` calls and graders.
 *
 * It lives in a database of its own, so that going back in the world's state neither loses it nor
 * counts it as a change. It is bounded in entries and bytes; the oldest make room.
 */
import type { ChangeCounts } from '#domain/call.ts';
import { ledgerEntity } from '#domain/ledger.ts';
import type { Contract, JsonSchema } from '#language/contract.ts';
import { createCatalog } from '#store/catalog.ts';
import { openEmpty } from '#store/open.ts';
import { createReader, type Reader } from '#store/read.ts';
import { createStatements } from '#store/statements.ts';
import { maskSecrets } from './mask.ts';

/** One request as it is noted; `id` and secrets are the ledger's business. */
export type LedgerNote = {
  /** When it arrived, ISO 8601. */
  at: string;
  via: 'tool' | 'api' | 'session' | 'webhook';
  /** Tool, route's operation, kind of session call or event type; null when nothing matched. */
  operation: string | null;
  method: string | null;
  path: string | null;
  /** Status of an API answer; null for calls. */
  status: number | null;
  request: unknown;
  response: unknown;
  duration_ms: number;
  changes: ChangeCounts;
  call_id: string | null;
};

export type Ledger = Pick<Reader, 'query' | 'count'> & {
  note(note: LedgerNote): void;
  clear(): void;
  close(): void;
};

export type LedgerLimits = { entries: number; bytes: number; valueBytes: number };

const defaultLimits: LedgerLimits = {
  entries: 100_000,
  bytes: 64 * 1024 * 1024,
  /** Of one request or response; a longer one is kept as its beginning. */
  valueBytes: 16 * 1024,
};

const text: JsonSchema = { type: 'string' };

const ledgerContract: Pick<Contract, 'entities'> = {
  entities: [
    {
      name: ledgerEntity,
      schema: { type: 'object', properties: { id: { type: 'integer' }, at: text } },
      primaryKey: ['id'],
      unique: [],
      relationships: [],
      columns: [
        { name: 'id', type: 'INTEGER' },
        { name: 'at', type: 'TEXT' },
        { name: 'via', type: 'TEXT' },
        { name: 'operation', type: 'TEXT' },
        { name: 'method', type: 'TEXT' },
        { name: 'path', type: 'TEXT' },
        { name: 'status', type: 'INTEGER' },
        { name: 'duration_ms', type: 'REAL' },
        { name: 'call_id', type: 'TEXT' },
      ],
    },
  ],
};

const bounded = (value: unknown, maxBytes: number): unknown => {
  const masked = maskSecrets(value) ?? null;
  const json = JSON.stringify(masked);
  if (json.length <= maxBytes) return masked;
  return { truncated: true, bytes: Buffer.byteLength(json), start: json.slice(0, maxBytes) };
};

/** Opens an empty ledger. */
export const openLedger = (limits: LedgerLimits = defaultLimits): Ledger => {
  const db = openEmpty(ledgerContract);
  const prepare = createStatements(db);
  const { query, count } = createReader(createCatalog(ledgerContract), prepare);
  let lastId = 0;
  let kept = 0;
  let bytes = 0;

  const makeRoom = (): void => {
    const oldest = prepare(`DELETE FROM ${ledgerEntity}
      WHERE rowid = (SELECT min(rowid) FROM ${ledgerEntity}) RETURNING octet_length(payload) AS size`);
    while (kept > limits.entries || bytes > limits.bytes) {
      bytes -= Number(oldest.get()?.size);
      kept -= 1;
    }
  };

  return {
    query,
    count,
    note(note) {
      lastId += 1;
      const payload = JSON.stringify({
        id: lastId,
        ...note,
        // A delivery is kept as it was signed; its body has a limit of its own.
        request: note.via === 'webhook' ? note.request : bounded(note.request, limits.valueBytes),
        response: bounded(note.response, limits.valueBytes),
      });
      prepare(`INSERT INTO ${ledgerEntity} (_key, payload) VALUES (?, ?)`).run(
        JSON.stringify([lastId]),
        payload,
      );
      kept += 1;
      bytes += Buffer.byteLength(payload);
      makeRoom();
    },
    clear() {
      db.exec(`DELETE FROM ${ledgerEntity}`);
      lastId = 0;
      kept = 0;
      bytes = 0;
    },
    close: () => db.close(),
  };
};
