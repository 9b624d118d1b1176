/**
 * Takes entries of a session's ledger from its host. A host runs strangers' code, so each entry is
 * looked at before it is written.
 */
import { Ajv } from 'ajv';
import { AppError } from '#domain/error.ts';
import { LedgerEntry } from '#wire/host-api/ledger.ts';
import { staleHost } from '../calls/orders.ts';
import type { SessionHost } from '../db/calls.ts';
import { insertRequests } from '../db/requests.ts';
import { isTooDeep } from '../http/body.ts';
import type { Parts } from '../parts.ts';

/** Deeper than what a host shows of requests; deliveries of webhooks are kept as they were sent. */
const deepest = 200;

const isEntry = new Ajv({ strict: true }).compile<LedgerEntry>(LedgerEntry);

const refuse = (index: number, message: string): AppError =>
  new AppError('invalid', message, { fields: [{ path: ['entries', String(index)], message }] });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which is no entry
  }
};

const readEntry = (text: string, index: number): LedgerEntry => {
  if (isTooDeep(text, deepest)) throw refuse(index, `nests deeper than ${deepest} levels`);
  const entry = parseJson(text);
  if (isEntry(entry) && !Number.isNaN(Date.parse(entry.at))) return entry;
  throw refuse(index, 'is no entry of a request ledger');
};

/** Throws `invalid` for what is no entry, and `conflict` when the session is not this host's. */
export const receiveRequests = async (
  { db }: Pick<Parts, 'db'>,
  host: SessionHost,
  texts: readonly string[],
): Promise<void> => {
  if (!(await insertRequests(db, host, texts.map(readEntry)))) throw staleHost(host);
};
