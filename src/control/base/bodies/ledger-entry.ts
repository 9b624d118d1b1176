/**
 * Reads the entries of a session's ledger that its host delivers. The host runs user code, so each entry is validated
 * before it is stored; only its free JSON stays text.
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

/** Fields that the queue of webhook deliveries needs; null for every entry that is no delivery. */
export type SentTo = {
  /** Registered URL of the receiver. */
  sentUrl: string | null;
  /** Id of the subscription within the session: deliveries to one subscription are sent in order. */
  sentLine: string | null;
};

/** An entry with its free JSON as text, named by the columns that it is written to. */
export type KeptEntry = Omit<LedgerEntry, JsonMember> & Record<JsonMember, string> & SentTo;

/** Deepest nesting of an entry. A host shows requests cut to less, but keeps webhook deliveries as they were sent. */
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

/** Returns a text in the form in which a text column stores it: without credentials and zero bytes. */
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

/** Reads the entry at `index` of a delivery; throws `invalid` if it is malformed. */
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
