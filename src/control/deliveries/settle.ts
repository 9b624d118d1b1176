/**
 * Answers of receivers that no entry of a ledger tells of yet. The host of a session that is open is told again, as it
 * may not have heard; it writes each down once. Of a session that is over nobody else writes entries any more, so they
 * are written here, after its last one.
 */
import { answerSuffix } from '#domain/ledger.ts';
import type { KeptEntry } from '../bodies/ledger-entry.ts';
import {
  appendEntries,
  claimOpenAnswers,
  findAnswerEntries,
  type OpenAnswer,
  settleAnswers,
} from '../db/deliveries.ts';
import type { Parts } from '../parts.ts';
import { tellHost } from './answers.ts';

/** The delivery that an entry tells the answer to; undefined for an entry that tells of none. */
export const answeredBy = (requestJson: string): number | undefined => {
  const request: unknown = JSON.parse(requestJson);
  const delivery =
    typeof request === 'object' && request !== null && 'delivery' in request
      ? request.delivery
      : undefined;
  return Number.isInteger(delivery) ? Number(delivery) : undefined;
};

/** Of the entries that a host delivers, those that tell of answers. */
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

const settleEnded = async (
  { db }: Parts,
  sessionId: string,
  answers: readonly OpenAnswer[],
): Promise<void> => {
  // The host may have written some down with its last entries.
  const { last, entries } = await findAnswerEntries(db, sessionId);
  const known = entries.flatMap(({ id, requestJson }) => {
    const deliveryId = answeredBy(requestJson);
    return deliveryId === undefined ? [] : [{ id, deliveryId }];
  });
  const isKnown = new Set(known.map(({ deliveryId }) => deliveryId));
  const missing = answers.filter(({ deliveryId }) => !isKnown.has(deliveryId));
  const appended = missing.map((answer, index) => ({ ...entryOf(answer), id: last + 1 + index }));
  if (appended.length > 0) await appendEntries(db, sessionId, appended);
  const written = missing.map(({ deliveryId }, index) => ({ deliveryId, id: last + 1 + index }));
  await settleAnswers(db, sessionId, [...known, ...written]);
};

/** Sees to some of them; each is looked at again after half a minute, until an entry tells of it. */
export const settleOpenAnswers = async (parts: Parts): Promise<void> => {
  const open = await claimOpenAnswers(parts.db);
  const bySession = Map.groupBy(open, ({ sessionId }) => sessionId);
  for (const [sessionId, answers] of bySession) {
    const [{ projectId, isOver } = { projectId: '', isOver: true }] = answers;
    if (isOver) await settleEnded(parts, sessionId, answers);
    else {
      const wait = { ms: 0, signal: AbortSignal.timeout(1_000) };
      await tellHost(parts, { projectId, sessionId }, answers, wait);
    }
  }
};
