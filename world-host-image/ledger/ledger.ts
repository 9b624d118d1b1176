/**
 * The request ledger of a session: what was asked of it, by tool calls and over its API, and what it
 * answered. It is read like an entity, `svc_requests`, by `state` calls and graders.
 *
 * It lives in a database of its own, so that going back in the world's state neither loses it nor
 * counts it as a change. It is bounded in entries and bytes; the oldest make room. Each entry also
 * waits in the backlog until the control plane has it, where it outlives the session.
 */
import type { ChangeCounts } from '#domain/call.ts';
import { cut } from '#domain/cut.ts';
import { type LedgerWay, ledgerEntity } from '#domain/ledger.ts';
import { ledgerEntityContract } from '#language/sql/ledger-entity.ts';
import { createReader, type Reader } from '#store/read/read.ts';
import { createCatalog } from '#store/tables/catalog.ts';
import { openEmpty } from '#store/tables/open.ts';
import { createStatements } from '#store/tables/statements.ts';
import type { RowChange } from '#store/write/write-set.ts';
import { type Backlog, createBacklog } from './backlog.ts';
import { hideValues, noSecrets, type Secrets, showText, showValue } from './mask.ts';

/** One request as it is noted; `id`, bounds and secrets are the ledger's business. */
export type LedgerNote = {
  /** When it arrived, ISO 8601. */
  at: string;
  via: LedgerWay;
  /** Tool, route's operation, kind of session call or event type; null when nothing matched. */
  operation: string | null;
  method: string | null;
  path: string | null;
  /** Status of an API answer; null for calls. */
  status: number | null;
  request: unknown;
  response: unknown;
  /** JSON text that stands for `response` where it is at hand, for it need not be read then. */
  responseText?: string | undefined;
  duration_ms: number;
  changes: ChangeCounts;
  /** The rows that it changed, in the order they were first touched. */
  rows?: readonly RowChange[];
  call_id: string | null;
};

export type Ledger = Pick<Reader, 'query' | 'list' | 'count'> & {
  /** Notes it, and answers the number of the entry. */
  note(note: LedgerNote): number;
  /** Notes for the backlog alone what is about an entry that the ledger was emptied of. */
  noteAside(note: LedgerNote): void;
  /** How often it was emptied. */
  generation(): number;
  /** Whether an entry of this number was noted since it was last emptied. */
  isRecent(id: number): boolean;
  /** Notes what ends the ledger as it is, for the backlog alone, and empties it. */
  clear(last: LedgerNote): void;
  /** The entries noted until now, and none of later; until somebody reads or clears the ledger itself. */
  asOfNow(): LedgerNow;
  /** How many entries made room for later ones, since it was empty. */
  missing(): number;
  /** The number of the last entry; it rises with each, also with one that empties the ledger. */
  lastId(): number;
  /** What the control plane is still to be given. */
  backlog: Backlog;
  /** Calls the listener with the number of each entry before anything is answered of it, and of the last one at once. */
  onEntry(listener: (id: number) => void): void;
  close(): void;
};

/** The ledger at one moment. */
export type LedgerNow = Pick<Reader, 'query' | 'list' | 'count'> & { missing: number };

export type LedgerLimits = { entries: number; bytes: number; valueChars: number };

const defaultLimits: LedgerLimits = {
  entries: 100_000,
  bytes: 64 * 1024 * 1024,
  /** Longest request or response that is kept whole; of a longer one it is the beginning. */
  valueChars: 16 * 1024,
};

/** What one entry shows at most; `changes` counts all rows. */
const mostRows = 100;
const mostKeyChars = 1_024;
const mostFields = 100;
const mostPathChars = 2_048;
const mostNameChars = 256;

const contract = { entities: [ledgerEntityContract], definitions: {} };

const shorten = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most - 1)}…`;

const quote = (text: string | null, most: number, secrets: Secrets): string =>
  text === null ? 'null' : JSON.stringify(shorten(hideValues(text, secrets), most));

/** A key that would take the room of many is left out. */
const showRows = (rows: readonly RowChange[]) =>
  rows.slice(0, mostRows).map(({ entity, key, change, fields }) => ({
    entity,
    key: JSON.stringify(key).length <= mostKeyChars ? key : null,
    kind: change,
    ...(fields === undefined ? {} : { fields: fields.slice(0, mostFields) }),
  }));

type Shown = { secrets: Secrets; valueChars: number };

const entryOf = (id: number, note: LedgerNote, { secrets, valueChars }: Shown): string => {
  const { request, response, responseText, changes, rows = [], ...plain } = note;
  // A delivery is kept as it was signed; its body has a limit of its own.
  const asked =
    plain.via === 'webhook' ? JSON.stringify(request) : showValue(request, valueChars, secrets);
  const answered =
    responseText === undefined
      ? showValue(response, valueChars, secrets)
      : showText(responseText, valueChars, secrets);
  // Joined, and not added up, it is one text without the parts that it was made of.
  return [
    `{"id":${id},"at":${JSON.stringify(plain.at)},"via":"${plain.via}"`,
    `"operation":${quote(plain.operation, mostNameChars, secrets)}`,
    `"method":${quote(plain.method, mostNameChars, secrets)}`,
    `"path":${quote(plain.path, mostPathChars, secrets)}`,
    `"status":${plain.status},"duration_ms":${Math.round(plain.duration_ms * 1_000) / 1_000}`,
    `"call_id":${JSON.stringify(plain.call_id)},"changes":${JSON.stringify(changes)}`,
    `"rows":${rows.length === 0 ? '[]' : hideValues(JSON.stringify(showRows(rows)), secrets)}`,
    `"request":${asked}`,
    `"response":${answered}}`,
  ].join();
};

/** A ledger as it was exported: entries as JSON texts by their numbers, in order. */
export type KeptLedger = {
  entries: readonly { id: number; json: string }[];
  lastId: number;
  missing: number;
};

export type LedgerOptions = {
  secrets?: Secrets;
  limits?: LedgerLimits;
  /** What is in it from the beginning; absent: nothing. */
  kept?: KeptLedger;
};

const emptyLedger: KeptLedger = { entries: [], lastId: 0, missing: 0 };

/** The database of a ledger, empty. */
const openTable = () => {
  const db = openEmpty(contract);
  const prepare = createStatements(db);
  return { db, prepare, reader: createReader(createCatalog(contract), prepare) };
};

/** Opens a ledger; its database is made when somebody first reads it. Numbers of entries count over the whole session, whatever is cleared. */
export const openLedger = ({
  secrets = noSecrets,
  limits = defaultLimits,
  kept: begun = emptyLedger,
}: LedgerOptions = {}): Ledger => {
  let made: ReturnType<typeof openTable> | undefined;
  const table = (): ReturnType<typeof openTable> => {
    made ??= openTable();
    return made;
  };
  const backlog = createBacklog();
  const shown = { secrets, valueChars: limits.valueChars };
  /** Entries are written when somebody reads: most are read once, by a grader, or never. */
  const unwritten = createBacklog(limits);
  for (const { id, json } of begun.entries) unwritten.add(id, json);
  let lastId = begun.lastId;
  let clearedAt = begun.lastId - begun.entries.length - begun.missing;
  let generation = 0;
  let noted: (id: number) => void = () => undefined;
  let kept = 0;
  let bytes = 0;

  const makeRoom = (): void => {
    const { prepare } = table();
    const oldest = prepare(`DELETE FROM ${ledgerEntity}
      WHERE rowid = (SELECT min(rowid) FROM ${ledgerEntity}) RETURNING octet_length(payload) AS size`);
    while (kept > limits.entries || bytes > limits.bytes) {
      bytes -= Number(oldest.get()?.size);
      kept -= 1;
    }
  };

  const write = (): void => {
    const entries = unwritten.first({ entries: limits.entries, chars: limits.bytes });
    if (entries.length === 0) return;
    const { db, prepare } = table();
    db.exec('BEGIN');
    const insert = prepare(`INSERT INTO ${ledgerEntity} (_key, payload) VALUES (?, ?)`);
    for (const { id, json } of entries) {
      insert.run(JSON.stringify([id]), json);
      bytes += Buffer.byteLength(json);
    }
    kept += entries.length;
    unwritten.removeTo(lastId);
    makeRoom();
    db.exec('COMMIT');
  };

  /** The text of an entry, which waits for the control plane. */
  const tell = (note: LedgerNote): string => {
    lastId += 1;
    const entry = entryOf(lastId, note, shown);
    noted(lastId);
    backlog.add(lastId, entry, note.via === 'webhook');
    return entry;
  };

  const missing = (): number => {
    write(); // what is noted later waits to be written
    return lastId - clearedAt - kept;
  };

  return {
    backlog,
    missing,
    lastId: () => lastId,
    onEntry(listener) {
      noted = listener;
      listener(lastId);
    },
    query(entity, query) {
      write();
      return table().reader.query(entity, query);
    },
    list(entity, query) {
      write();
      return table().reader.list(entity, query);
    },
    count(entity, where) {
      write();
      return table().reader.count(entity, where);
    },
    asOfNow: () => ({ missing: missing(), ...table().reader }),
    note(note) {
      const entry = tell(note);
      unwritten.add(lastId, entry);
      return lastId;
    },
    noteAside: (note) => void tell(note),
    generation: () => generation,
    isRecent: (id) => id > clearedAt && id <= lastId,
    clear(last) {
      tell(last);
      made?.db.exec(`DELETE FROM ${ledgerEntity}`);
      unwritten.removeTo(lastId);
      clearedAt = lastId;
      generation += 1;
      kept = 0;
      bytes = 0;
    },
    close: () => made?.db.close(),
  };
};
