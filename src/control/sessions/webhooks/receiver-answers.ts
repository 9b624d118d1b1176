/**
 * Stores the answers of webhook receivers, one for each delivery, whichever program sent it. Passes them to the
 * session's host, which writes them into the ledger as entries `<event>.answer`. If the host did not get an answer, the
 * job in `open-answers.ts` sends it again, or writes it into the ledger of a session that has ended.
 */
import { AppError } from '#domain/error.ts';
import type { DeliverySender } from '#domain/ledger.ts';
import {
  insertDeliveryAnswers,
  type KeptDeliveryAnswer,
  type NewDeliveryAnswer,
} from '../../db/sessions/deliveries.ts';
import { enqueueOwn } from '../calls/enqueue.ts';
import type { SessionParts } from '../parts.ts';
import { settleEnded } from './ended-answers.ts';
import { viewAnswer } from './read-delivery.ts';

/** Session of the deliveries, and the sender of the deliveries. */
export type AnswerSource = { projectId: string; sessionId: string; sender: DeliverySender };

/** Maximum number of answers that are sent to the host in one call. */
const mostInCall = 100;

/** Returns true if the session accepts no call now: it has ended, or too many calls are queued. */
const isRefused = (error: unknown): boolean =>
  error instanceof AppError && ['conflict', 'exhausted', 'not_found'].includes(error.code);

/**
 * Sends answers to the session's host, up to 100 in a call, and waits until the host has written them into the ledger.
 * If the session has ended, the control plane writes them once the host has handed over its ledger. A session that
 * accepts no call now gets the answers later.
 */
export const sendToHost = async (
  parts: SessionParts,
  { projectId, sessionId }: Pick<AnswerSource, 'projectId' | 'sessionId'>,
  answers: readonly Omit<KeptDeliveryAnswer, 'isNew'>[],
  wait: { ms: number; signal: AbortSignal },
): Promise<void> => {
  for (let start = 0; start < answers.length; start += mostInCall) {
    const batch = answers.slice(start, start + mostInCall).map((answer) => ({
      delivery: answer.deliveryId,
      event: answer.event,
      ...viewAnswer(answer),
    }));
    const inputJson = JSON.stringify({ answers: batch });
    try {
      await enqueueOwn(parts, { projectId, sessionId, kind: 'webhook-answers', inputJson }, wait);
    } catch (error) {
      if (!isRefused(error)) throw error;
      parts.log.debug(
        { err: error, sessionId },
        'answers of webhook receivers could not be sent to the host of the session; they are sent later',
      );
      return settleEnded(parts.db, sessionId);
    }
  }
};

/** Maximum wait of a request until the host has written an answer into the ledger, in milliseconds. */
const writtenMs = 5_000;

/**
 * Stores answers to deliveries that have none yet, and lets the host write them into the ledger, where later requests
 * find them. Returns the stored answer of each delivery, including answers stored earlier. Unknown deliveries are left
 * out.
 */
export const recordAnswers = async (
  parts: SessionParts,
  source: AnswerSource,
  answers: readonly NewDeliveryAnswer[],
  signal: AbortSignal,
): Promise<KeptDeliveryAnswer[]> => {
  const kept = await insertDeliveryAnswers(parts.db, source, answers);
  const fresh = kept.filter(({ isNew }) => isNew);
  if (fresh.length > 0) await sendToHost(parts, source, fresh, { ms: writtenMs, signal });
  return kept;
};
