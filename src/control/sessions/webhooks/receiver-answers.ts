/**
 * Stores the answers of webhook receivers, whichever program sent the deliveries: one for each delivery. Passes them
 * to the session's host, which writes them into the ledger as an entry `<event>.answer`. The job in `open-answers.ts`
 * retries those that the host did not get, or writes them into the ledger of a session that is over.
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

/** The session of the deliveries, and their sender. */
export type AnswerSource = { projectId: string; sessionId: string; sender: DeliverySender };

/** Maximum number of answers in one call. */
const mostInCall = 100;

/** Returns true if the session accepts no call now: it is over, or has too many already. */
const isRefused = (error: unknown): boolean =>
  error instanceof AppError && ['conflict', 'exhausted', 'not_found'].includes(error.code);

/**
 * Sends answers to the session's host, up to 100 a call, and waits until the host has written them. For a session that
 * is over, the control plane writes them once the host has handed over its ledger. A session that accepts no call now
 * gets them later.
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
        'the host of a session gets answers of receivers later',
      );
      return settleEnded(parts.db, sessionId);
    }
  }
};

/** Time for which a request waits until the host has written an answer into the ledger, in milliseconds. */
const writtenMs = 5_000;

/**
 * Stores answers to deliveries that have none yet and has the host write them into the ledger. So later requests about
 * the session find them there. Returns the stored answer of each delivery, including those answered before; unknown
 * deliveries are left out.
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
