/**
 * Handles webhook entries that hosts deliver: notifies requests that wait for deliveries, and marks answers as written.
 */
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import { settleAnswers } from '../../db/sessions/deliveries.ts';
import { deliveriesTopic, pushesTopic } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';
import { answerEntriesOf } from './ended-answers.ts';

/** Handles entries that were just stored. Calling it again with the same entries is harmless. */
export const noteArrived = async (
  { db, notifications }: SessionParts,
  sessionId: string,
  entries: readonly KeptEntry[],
): Promise<void> => {
  const ofWebhooks = entries.filter(({ via }) => via === 'webhook');
  if (ofWebhooks.length === 0) return;
  const answers = answerEntriesOf(ofWebhooks);
  if (answers.length > 0) await settleAnswers(db, sessionId, answers);
  if (answers.length < ofWebhooks.length)
    notifications.notify(deliveriesTopic(sessionId), pushesTopic);
};
