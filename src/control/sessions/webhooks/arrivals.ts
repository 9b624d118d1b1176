/** Entries of webhooks as hosts deliver them: whoever waits for deliveries is told, and answers are known to be written. */
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import { settleAnswers } from '../../db/sessions/deliveries.ts';
import { deliveriesTopic, pushesTopic } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';
import { answerEntriesOf } from './ended-answers.ts';

/** Sees to entries that were written just now. It may be done twice. */
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
    notifications.tell(deliveriesTopic(sessionId), pushesTopic);
};
