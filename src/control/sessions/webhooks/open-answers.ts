/**
 * Handles answers of webhook receivers that have no ledger entry yet. The host of an open session gets them again,
 * because it may have missed them; it writes each answer only once. For sessions that have ended, `ended-answers.ts`
 * writes the answers.
 */
import { claimOpenAnswers, findEndedWithAnswers } from '../../db/sessions/deliveries.ts';
import type { SessionParts } from '../parts.ts';
import { settleEnded } from './ended-answers.ts';
import { sendToHost } from './receiver-answers.ts';

/**
 * Handles a batch of answers without a ledger entry. An answer of an open session is sent again after half a minute,
 * until it has an entry.
 */
export const settleOpenAnswers = async (parts: SessionParts): Promise<void> => {
  for (const sessionId of await findEndedWithAnswers(parts.db)) {
    await settleEnded(parts.db, sessionId);
  }
  const open = await claimOpenAnswers(parts.db);
  const bySession = Map.groupBy(open, ({ sessionId }) => sessionId);
  for (const [sessionId, answers] of bySession) {
    const [{ projectId } = { projectId: '' }] = answers;
    const wait = { ms: 0, signal: AbortSignal.timeout(1_000) };
    await sendToHost(parts, { projectId, sessionId }, answers, wait);
  }
};
