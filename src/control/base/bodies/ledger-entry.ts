/**
 * Reads the entries of a session's ledger that the session's host delivers. The host runs user code, so each entry is
 * validated before it is stored. Only values without a fixed schema stay JSON text.
 */
import { createHash } from 'node:crypto';
import { Ajv } from 'ajv';
import { withoutNul } from '#domain/cut.ts';
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import { answerSuffix } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import { LedgerEntry } from '#wire/host-api/ledger.ts';
import { isTooDeep } from '#wire/json-extent.ts';
import { shownText, writeShown } from '../json/shown.ts';

const jsonMembers = ['request', 'response', 'changes', 'rows'] as const;
type JsonMember = (typeof jsonMembers)[number];

/** Fields that the queue of webhook deliveries needs; null in every entry that is no delivery. */
export type SentTo = {
  /** Registered URL of the receiver; null if the entry is no delivery. */
  sentUrl: string | null;
  /**
   * Id of the webhook subscription within the session; null if the entry is no delivery. Deliveries to the same
   * subscription are sent in order.
   */
  sentLine: string | null;
};

/**
 * Entry whose values without a fixed schema are JSON text. Its members have the names of the columns in which they are
 * stored.
 */
export type KeptEntry = Omit<LedgerEntry, JsonMember> & Record<JsonMember, string> & SentTo;

/**
 * Maximum nesting of an entry. A host cuts requests in the ledger to fewer levels, but stores webhook deliveries as
 * they were sent.
 */
const deepest = limits.bodyLevels;

const isEntry = new Ajv({ strict: true }).compile<LedgerEntry>(LedgerEntry);

const invalidEntry = (index: number, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: ['entries', String(index)], message }] });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // undefined fails the validation below
  }
};

const write = (value: unknown): string => writeShown(value ?? null);

/**
 * Returns a text in the form in which it is stored in a text column: with credentials redacted and without zero bytes.
 * Null stays null.
 */
const shown = (text: string | null): string | null =>
  text === null ? null : withoutNul(shownText(text) ?? '');

const notSent: SentTo = { sentUrl: null, sentLine: null };

const sentToOf = ({ via, operation, request }: LedgerEntry): SentTo => {
  if (via !== 'webhook' || operation?.endsWith(answerSuffix) || !isObject(request)) return notSent;
  const { url, subscription = null, world = null } = request as Record<string, unknown>;
  if (typeof url !== 'string') return notSent;
  const line = createHash('sha256').update(JSON.stringify([world, subscription, url]));
  return { sentUrl: shown(url), sentLine: line.digest('base64url') };
};

/** Reads the entry at position `index` of a delivery. Throws `invalid` if the entry is malformed. */
export const readEntry = (text: string, index: number): KeptEntry => {
  if (isTooDeep(text, deepest)) throw invalidEntry(index, `nests deeper than ${deepest} levels`);
  const entry = parseJson(text);
  if (!isEntry(entry) || Number.isNaN(Date.parse(entry.at))) {
    throw invalidEntry(index, 'is no entry of a request ledger');
  }
  const { id, at, via, operation, method, path, status, duration_ms, call_id } = entry;
  const { request, response, changes, rows } = entry;
  return {
    ...{ id, at, via, status, duration_ms, call_id: shown(call_id) },
    operation: shown(operation),
    method: shown(method),
    path: shown(path),
    request: write(request),
    response: write(response),
    changes: write(changes),
    rows: write(rows),
    ...sentToOf(entry),
  };
};
