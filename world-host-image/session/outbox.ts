/**
 * What the turn under way is going to send: deliveries of webhooks, held until it is known whether the
 * call or request succeeds. One that fails sends nothing.
 */
import type { Row } from '#language/contract.ts';
import type { LedgerNote } from '../ledger/ledger.ts';

/** One event on its way to one subscription. */
export type Delivery = {
  event: string;
  url: string;
  /** Signed. */
  headers: Record<string, string>;
  /** A JSON value whose text, as `JSON.stringify` writes it, is what was signed. */
  body: unknown;
  scope: Row | null;
  /** When it was made, by the machine's clock. */
  at: Date;
};

export type Outbox = {
  /** Drops what an earlier turn left behind. */
  begin(): void;
  hold(deliveries: readonly Delivery[]): void;
  size(): number;
  /** Everything held, in the order it was sent. */
  take(): Delivery[];
};

/** An empty outbox. */
export const createOutbox = (): Outbox => {
  let held: Delivery[] = [];
  const take = (): Delivery[] => {
    const taken = held;
    if (taken.length > 0) held = [];
    return taken;
  };
  return {
    begin: take,
    hold: (deliveries) => void held.push(...deliveries),
    size: () => held.length,
    take,
  };
};

/** A delivery as the request ledger has it. Nobody has received it yet, so it has no status. */
export const noteOfDelivery = (delivery: Delivery, callId: string | null): LedgerNote => ({
  at: delivery.at.toISOString(),
  via: 'webhook',
  operation: delivery.event,
  method: 'POST',
  path: null,
  status: null,
  request: {
    url: delivery.url,
    headers: delivery.headers,
    body: delivery.body,
    scope: delivery.scope,
  },
  response: null,
  duration_ms: 0,
  changes: {},
  call_id: callId,
});
