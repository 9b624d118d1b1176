/**
 * Request ledger of a session: the requests of tool calls and of the API, with their answers. `state` calls and graders
 * read it like an entity, by the name `svc_requests`.
 *
 * It has a database of its own, so that rolling back the world's state neither loses entries nor counts them as
 * changes. It is limited in entries and bytes; beyond a limit, the oldest entries are dropped. Each entry also waits in
 * the backlog until the control plane has it, because the control plane stores it beyond the end of the session.
 */
import type { ChangeCounts } from '#domain/call.ts';
import { cut } from '#domain/cut.ts';
import type { LedgerOrigin } from '#domain/ledger.ts';
import type { Reader } from '#store/read/read.ts';
import type { RowChange } from '#store/write/write-set.ts';
import { type Backlog, createBacklog } from './backlog.ts';
import { hideValues, noSecrets, type Secrets, showText, showValue } from './mask.ts';
import { LedgerTable } from './table.ts';

/** Request to record. The ledger adds the `id`, cuts values to its limits and masks secrets. */
export type LedgerNote = {
  /** Time at which the request arrived, in ISO 8601. */
  at: string;
  via: LedgerOrigin;
  /** Tool, operation of the route, kind of session call, or event type; null if the request matched none. */
  operation: string | null;
  method: string | null;
  path: string | null;
  /** Status of an API answer; null for calls. */
  status: number | null;
  request: unknown;
  response: unknown;
  /** `response` as JSON text, if the caller has the text; the ledger then need not serialize the value. */
  responseText?: string | undefined;
  duration_ms: number;
  changes: ChangeCounts;
  /** Changed rows, in the order of their first change. */
  rows?: readonly RowChange[];
  call_id: string | null;
};

export type Ledger = Pick<Reader, 'query' | 'list' | 'count'> & {
  /** Records a request and returns the number of its entry. */
  note(note: LedgerNote): number;
  /**
   * Records a request in the backlog only. Use it for a request about an entry that `clear` has removed from the
   * ledger.
   */
  noteAside(note: LedgerNote): void;
  /** Returns how often the ledger was cleared. */
  generation(): number;
  /** Returns true if an entry of this number was recorded since the ledger was last cleared. */
  isRecent(id: number): boolean;
  /** Records `last` in the backlog only, as the last entry, and clears the ledger. */
  clear(last: LedgerNote): void;
  /**
   * Returns a view of the entries recorded so far, without later entries. It is valid until the next read or clear of
   * the ledger itself.
   */
  asOfNow(): LedgerNow;
  /** Returns the number of entries that were dropped because of the limits since the last clear. */
  missing(): number;
  /** Returns the number of the last entry. It rises with each entry, including the one that `clear` records. */
  lastId(): number;
  /** Entries that the control plane does not have yet. */
  backlog: Backlog;
  /**
   * Sets a listener. It is called at once with the number of the last entry, and then with each new number, before the
   * request is answered.
   */
  onEntry(listener: (id: number) => void): void;
  close(): void;
};

/** View of the ledger at one moment. */
export type LedgerNow = Pick<Reader, 'query' | 'list' | 'count'> & { missing: number };

export type LedgerLimits = { entries: number; bytes: number; valueChars: number };

const defaultLimits: LedgerLimits = {
  entries: 100_000,
  bytes: 64 * 1024 * 1024,
  /**
   * Length in characters up to which a request or response is recorded whole. A longer value is cut to its beginning.
   */
  valueChars: 16 * 1024,
};

/** Maximum number of changed rows that an entry names; its `changes` still count all rows. */
const mostRows = 100;
const mostKeyChars = 1_024;
const mostFields = 100;
const mostPathChars = 2_048;
const mostNameChars = 256;

const shorten = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most - 1)}…`;

const quote = (text: string | null, most: number, secrets: Secrets): string =>
  text === null ? 'null' : JSON.stringify(shorten(hideValues(text, secrets), most));

/** Returns changed rows as an entry contains them. A key that is too long is left out. */
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
  // A delivery is kept exactly as it was signed; its body has a limit of its own.
  const asked =
    plain.via === 'webhook' ? JSON.stringify(request) : showValue(request, valueChars, secrets);
  const answered =
    responseText === undefined
      ? showValue(response, valueChars, secrets)
      : showText(responseText, valueChars, secrets);
  // `join` yields one flat string. Concatenation would keep all of its parts in memory.
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

/** Exported ledger: entries as JSON texts with their numbers, in ascending order. */
export type ExportedLedger = {
  entries: readonly { id: number; json: string }[];
  lastId: number;
  missing: number;
};

export type LedgerOptions = {
  secrets?: Secrets;
  limits?: LedgerLimits;
  /** Entries that the ledger has at the start; absent for an empty ledger. */
  exported?: ExportedLedger;
};

const emptyLedger: ExportedLedger = { entries: [], lastId: 0, missing: 0 };

/**
 * Opens a ledger. Its database is created at the first read. Numbers of entries rise over the whole session and never
 * start over, not even after a clear.
 */
export const openLedger = ({
  secrets = noSecrets,
  limits = defaultLimits,
  exported: begun = emptyLedger,
}: LedgerOptions = {}): Ledger => {
  const table = new LedgerTable(limits);
  const backlog = createBacklog();
  const shown = { secrets, valueChars: limits.valueChars };
  /**
   * Entries that are not in the database yet. They are written at the first read, because most ledgers are read only
   * once, by a grader, or never.
   */
  const unwritten = createBacklog(limits);
  for (const { id, json } of begun.entries) unwritten.add(id, json);
  let lastId = begun.lastId;
  let clearedAt = begun.lastId - begun.entries.length - begun.missing;
  let generation = 0;
  let onEntry: (id: number) => void = () => undefined;

  /** Writes the unwritten entries into the table, and returns it. */
  const written = (): LedgerTable => {
    const entries = unwritten.first({ entries: limits.entries, chars: limits.bytes });
    if (entries.length === 0) return table;
    table.write(entries);
    unwritten.removeTo(lastId);
    return table;
  };

  /** Returns the text of a new entry, and puts it into the backlog. */
  const record = (note: LedgerNote): string => {
    lastId += 1;
    const entry = entryOf(lastId, note, shown);
    onEntry(lastId);
    backlog.add(lastId, entry, note.via === 'webhook');
    return entry;
  };

  /** Returns the number of entries dropped so far. Entries recorded afterwards stay unwritten. */
  const missing = (): number => lastId - clearedAt - written().size();

  return {
    backlog,
    missing,
    lastId: () => lastId,
    onEntry(listener) {
      onEntry = listener;
      listener(lastId);
    },
    query: (entity, query) => written().reader().query(entity, query),
    list: (entity, query) => written().reader().list(entity, query),
    count: (entity, where) => written().reader().count(entity, where),
    asOfNow: () => ({ missing: missing(), ...table.reader() }),
    note(note) {
      const entry = record(note);
      unwritten.add(lastId, entry);
      return lastId;
    },
    noteAside: (note) => void record(note),
    generation: () => generation,
    isRecent: (id) => id > clearedAt && id <= lastId,
    clear(last) {
      record(last);
      table.clear();
      unwritten.removeTo(lastId);
      clearedAt = lastId;
      generation += 1;
    },
    close: () => table.close(),
  };
};
