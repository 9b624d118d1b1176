/**
 * Request ledger of a session: every tool call and API request with its outcome. The host stores the ledger in addition
 * to the world's rows; graders and `state` calls read it like an entity.
 */

/** Name of the ledger as an entity. No world may declare an entity whose name begins with it. */
export const ledgerEntity = 'svc_requests';

/** Fields of a ledger entry. */
export const ledgerFields = [
  'id',
  'at',
  'via',
  'operation',
  'method',
  'path',
  'status',
  'request',
  'response',
  'duration_ms',
  'changes',
  'rows',
  'call_id',
] as const;

/**
 * Origins of a ledger entry: a tool call, the API, the page of the UI, another call, or the hosted browser; a webhook
 * that was sent, or a webhook that could not be sent to a subscription.
 */
export const ledgerOrigins = [
  'tool',
  'api',
  'ui',
  'session',
  'browser',
  'webhook',
  'webhook-skipped',
] as const;
export type LedgerOrigin = (typeof ledgerOrigins)[number];

/** Suffix that turns an event type into the operation of a receiver's answer. No event type ends with it. */
export const answerSuffix = '.answer';

/** Maximum length of an event type, in characters; with `answerSuffix` it still fits into a name. */
export const eventTypeChars = 256 - answerSuffix.length;

/** Senders of a delivery whose answer is in the ledger: a client that listens for deliveries, or the service's push. */
export const deliverySenders = ['listen', 'push'] as const;
export type DeliverySender = (typeof deliverySenders)[number];

/**
 * Mark of a session's ledger: the number of its last entry. A host keeps the mark in a file outside its process. If the
 * host is killed, the mark shows how many entries were not delivered.
 */
export type LedgerMark = { sessionId: string; lastEntry: number };

/**
 * Formats a mark as text. Numbers are padded, so that a later mark is never shorter and can overwrite the previous
 * mark.
 */
export const writeLedgerMark = ({ sessionId, lastEntry }: LedgerMark): string =>
  `ledger ${sessionId} ${String(lastEntry).padStart(10, '0')}\n`;

/** Parses a mark; undefined if the text is not one. */
export const readLedgerMark = (text: string): LedgerMark | undefined => {
  const [, sessionId, number] = /^ledger (\S{1,64}) (\d{10})\n/.exec(text) ?? [];
  return sessionId === undefined ? undefined : { sessionId, lastEntry: Number(number) };
};
