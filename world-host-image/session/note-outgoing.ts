/** Writes what a call or request has sent into the ledger, and counts it. */
import { noteOfDelivery, noteOfSkip, type Outgoing } from './outbox.ts';
import type { Session } from './session.ts';

/** Notes deliveries and skips, in their order; `callId` of the call that sent them. */
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
