/** Records the webhooks that a call or request has sent in the ledger, and counts them. */
import { noteOfDelivery, noteOfSkip, type Outgoing } from './outbox.ts';
import type { Session } from './session.ts';

/** Records deliveries and skips in their order. `callId` is the id of the call that sent them. */
export const noteOutgoing = (
  { ledger, sent }: Session,
  { deliveries, skips }: Outgoing,
  callId: string | null,
): void => {
  for (const delivery of deliveries) {
    const entryId = ledger.note(noteOfDelivery(delivery, ledger.generation(), callId));
    sent.note(delivery.world, delivery.subscription, entryId);
  }
  for (const skip of skips) ledger.note(noteOfSkip(skip, callId));
};
