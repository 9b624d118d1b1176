/**
 * What receivers answered, whoever sent the deliveries: kept once a delivery, and told to the session's host, which
 * writes it into the ledger as an entry `<event>.answer`. What the host could not be told is told again, or written
 * into the ledger of a session that is over, by the job in `open-answers.ts`.
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

/** Of which session the deliveries are, and who sent them. */
export type AnswerSource = { projectId: string; sessionId: string; sender: DeliverySender };

/** Answers that are told in one call. */
const mostTold = 100;

/** Why a session takes no call now: it is over, or has too many already. */
const isRefused = (error: unknown): boolean =>
  error instanceof AppError && ['conflict', 'exhausted', 'not_found'].includes(error.code);

/**
 * Sends answers to the session's host, up to 100 a call, and waits until the host has written them. For a session that
 * is over, the control plane writes them once the host has handed over its ledger. A session that takes no call now gets
 * them later.
 */
export const tellHost = async (
  parts: SessionParts,
  { projectId, sessionId }: Pick<AnswerSource, 'projectId' | 'sessionId'>,
  answers: readonly Omit<KeptDeliveryAnswer, 'isNew'>[],
  wait: { ms: number; signal: AbortSignal },
): Promise<void> => {
  for (let start = 0; start < answers.length; start += mostTold) {
    const told = answers.slice(start, start + mostTold).map((answer) => ({
      delivery: answer.deliveryId,
      event: answer.event,
      ...viewAnswer(answer),
    }));
    const inputJson = JSON.stringify({ answers: told });
    try {
      await enqueueOwn(parts, { projectId, sessionId, kind: 'webhook-answers', inputJson }, wait);
    } catch (error) {
      if (!isRefused(error)) throw error;
      parts.log.debug({ err: error, sessionId }, 'answers of receivers wait to be written down');
      return settleEnded(parts.db, sessionId);
    }
  }
};

/** How long an answer is held for the host to have written it into the ledger, in milliseconds. */
const toldMs = 5_000;

/**
 * Keeps answers to deliveries that have none yet, and has them written into the ledger: whatever is asked of the
 * session afterwards finds them there. Answers what is kept of each, also of those that had an answer before, and
 * nothing of deliveries that are not there.
 */
export const recordAnswers = async (
  parts: SessionParts,
  source: AnswerSource,
  answers: readonly NewDeliveryAnswer[],
  signal: AbortSignal,
): Promise<KeptDeliveryAnswer[]> => {
  const kept = await insertDeliveryAnswers(parts.db, source, answers);
  const fresh = kept.filter(({ isNew }) => isNew);
  if (fresh.length > 0) await tellHost(parts, source, fresh, { ms: toldMs, signal });
  return kept;
};
