/**
 * An entry of a session's ledger as its host delivers it: text of a host that runs strangers' code, so
 * it is looked at before it is written, and only its free JSON stays text.
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

/** What is looked at of a delivery of a webhook where deliveries are queued; null for every other entry. */
export type SentTo = {
  /** The URL that was registered. */
  sentUrl: string | null;
  /** Names its subscription among those of the session: deliveries to one go out in their order. */
  sentLine: string | null;
};

/** The entry with its free JSON as text, in the order of the columns that it is written to. */
export type KeptEntry = Omit<LedgerEntry, JsonMember> & Record<JsonMember, string> & SentTo;

/** Deeper than what a host shows of requests; deliveries of webhooks are kept as they were sent. */
const deepest = limits.bodyLevels;

const isEntry = new Ajv({ strict: true }).compile<LedgerEntry>(LedgerEntry);

const invalidEntry = (index: number, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: ['entries', String(index)], message }] });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which is no entry
  }
};

const write = (value: unknown): string => writeShown(value ?? null);

/** A text as a column of text keeps it. */
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

/** Reads the entry at a position of a delivery; throws `invalid` for what is none. */
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
