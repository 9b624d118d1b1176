/**
 * The request ledger of a session: every tool call and API request with its outcome. A host keeps it
 * beside the world's rows; graders and `state` calls read it like an entity.
 */

/** The ledger's name where an entity's name is asked for. No world may declare one that begins so. */
export const ledgerEntity = 'svc_requests';

/** The fields of an entry. */
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
 * How a request came: as a tool call, over the API, from the page of the UI, as another call, or by the hosted
 * browser; or as a webhook that was sent, or that could not be sent to one of its subscriptions.
 */
export const ledgerWays = [
  'tool',
  'api',
  'ui',
  'session',
  'browser',
  'webhook',
  'webhook-skipped',
] as const;
export type LedgerWay = (typeof ledgerWays)[number];

/** What the ledger calls a receiver's answer: the type of the event with this behind it. No event type ends so. */
export const answerSuffix = '.answer';

/** Characters of an event type: the name of its answer has room where names have it. */
export const eventTypeChars = 256 - answerSuffix.length;

/** Who had a delivery sent whose answer is kept. */
export const deliverySenders = ['listen', 'push'] as const;
export type DeliverySender = (typeof deliverySenders)[number];

/**
 * Mark of a session's ledger: the number of its last entry. A host keeps it in a file outside of its process, so that
 * entries that a killed host had not delivered are counted.
 */
export type LedgerMark = { sessionId: string; lastEntry: number };

/** Writes a mark as text; each is at least as long as the one before, so that it may be written over it. */
export const writeLedgerMark = ({ sessionId, lastEntry }: LedgerMark): string =>
  `ledger ${sessionId} ${String(lastEntry).padStart(10, '0')}\n`;

/** Reads a mark; undefined for a text that is none. */
export const readLedgerMark = (text: string): LedgerMark | undefined => {
  const [, sessionId, number] = /^ledger (\S{1,64}) (\d{10})\n/.exec(text) ?? [];
  return sessionId === undefined ? undefined : { sessionId, lastEntry: Number(number) };
};
