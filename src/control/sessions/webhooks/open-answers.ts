/**
 * Answers of receivers that no entry of a ledger tells of yet. The host of a session that is open is told again, as it
 * may not have heard; it writes each down once. Those of a session that is over are written by `ended-answers.ts`.
 */
import { claimOpenAnswers, findEndedWithAnswers } from '../../db/sessions/deliveries.ts';
import type { SessionParts } from '../parts.ts';
import { settleEnded } from './ended-answers.ts';
import { tellHost } from './receiver-answers.ts';

/** Sees to some of them; each of an open session is looked at again after half a minute, until an entry tells of it. */
export const settleOpenAnswers = async (parts: SessionParts): Promise<void> => {
  for (const sessionId of await findEndedWithAnswers(parts.db)) {
    await settleEnded(parts.db, sessionId);
  }
  const open = await claimOpenAnswers(parts.db);
  const bySession = Map.groupBy(open, ({ sessionId }) => sessionId);
  for (const [sessionId, answers] of bySession) {
    const [{ projectId } = { projectId: '' }] = answers;
    const wait = { ms: 0, signal: AbortSignal.timeout(1_000) };
    await tellHost(parts, { projectId, sessionId }, answers, wait);
  }
};
