/**
 * Writes answers of webhook receivers into the ledger of a session that has ended. The session's host no longer writes
 * to the ledger, so the control plane appends the answers after the last entry.
 */
import { answerSuffix } from '#domain/ledger.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  appendEntries,
  claimAnswersOf,
  findAnswerEntries,
  type OpenAnswer,
  settleAnswers,
} from '../../db/sessions/deliveries.ts';
import { lockSession } from '../../db/sessions/endings.ts';

/** Returns the delivery whose answer the entry contains; undefined if the entry contains no answer. */
export const answeredBy = (requestJson: string): number | undefined => {
  const request: unknown = JSON.parse(requestJson);
  const delivery =
    typeof request === 'object' && request !== null && 'delivery' in request
      ? request.delivery
      : undefined;
  return Number.isInteger(delivery) ? Number(delivery) : undefined;
};

/** Returns the entries that contain answers, from the entries that a host delivered. */
export const answerEntriesOf = (
  entries: readonly Pick<KeptEntry, 'id' | 'via' | 'operation' | 'request'>[],
): { id: number; deliveryId: number }[] =>
  entries
    .filter(({ via, operation }) => via === 'webhook' && operation?.endsWith(answerSuffix) === true)
    .flatMap(({ id, request }) => {
      const deliveryId = answeredBy(request);
      return deliveryId === undefined ? [] : [{ id, deliveryId }];
    });

const entryOf = (answer: OpenAnswer): Omit<KeptEntry, 'id'> => ({
  at: answer.answeredAt.toISOString(),
  via: 'webhook',
  operation: `${answer.event}${answerSuffix}`,
  method: 'POST',
  path: null,
  status: answer.status,
  duration_ms: answer.durationMs,
  call_id: null,
  request: JSON.stringify({
    delivery: answer.deliveryId,
    sentTo: answer.sentTo,
    sender: answer.sender,
  }),
  response: JSON.stringify({ reason: answer.reason }),
  changes: '{}',
  rows: '[]',
  sentUrl: null,
  sentLine: null,
});

const settleIn = async (tx: Queryable, sessionId: string): Promise<void> => {
  // Serializes writers, because the ids of new entries are assigned here.
  await lockSession(tx, sessionId);
  const answers = await claimAnswersOf(tx, sessionId);
  if (answers.length === 0) return;
  // The host may have written some answers with its last entries.
  const { last, entries } = await findAnswerEntries(tx, sessionId);
  const known = entries.flatMap(({ id, requestJson }) => {
    const deliveryId = answeredBy(requestJson);
    return deliveryId === undefined ? [] : [{ id, deliveryId }];
  });
  const isKnown = new Set(known.map(({ deliveryId }) => deliveryId));
  const missing = answers.filter(({ deliveryId }) => !isKnown.has(deliveryId));
  const appended = missing.map((answer, index) => ({ ...entryOf(answer), id: last + 1 + index }));
  if (appended.length > 0) await appendEntries(tx, sessionId, appended);
  const written = missing.map(({ deliveryId }, index) => ({ deliveryId, id: last + 1 + index }));
  await settleAnswers(tx, sessionId, [...known, ...written]);
};

/**
 * Writes answers that have no ledger entry yet into the ledger of a session that has ended, once the host no longer
 * writes there. Does nothing for any other session.
 */
export const settleEnded = (db: Database, sessionId: string): Promise<void> =>
  db.transaction((tx) => settleIn(tx, sessionId));
