/** Takes entries of a session's ledger from its host, as `bodies/ledger-entry.ts` has read them. */
import type { KeptEntry } from '../bodies/ledger-entry.ts';
import { staleHost } from '../calls/orders.ts';
import type { SessionHost } from '../db/calls.ts';
import { insertRequests } from '../db/requests.ts';
import type { Parts } from '../parts.ts';

/** Throws `conflict` when the session is not this host's. */
export const receiveRequests = async (
  { db }: Pick<Parts, 'db'>,
  host: SessionHost,
  entries: readonly KeptEntry[],
): Promise<void> => {
  if (!(await insertRequests(db, host, entries))) throw staleHost(host);
};
