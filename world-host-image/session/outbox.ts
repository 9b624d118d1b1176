/**
 * Outbox of the current turn: webhook deliveries, held back until the call or request has succeeded. If the turn fails,
 * nothing is sent.
 */
import type { Row } from '#language/contract.ts';
import type { LedgerNote } from '../ledger/ledger.ts';

type About = {
  event: string;
  /** Primary key of the subscription; null if the entry is about several subscriptions. */
  subscription: Row | null;
  /** Alias of the linked world that sends the webhook; null for the session's own world. */
  world: string | null;
  scope: Row | null;
  /** Time at which the entry was made, by the machine's clock. */
  at: Date;
};

/** Delivery of one event to one subscription. */
export type Delivery = About & {
  url: string;
  /** Headers, including the signature. */
  headers: Record<string, string>;
  /**
   * Body as a JSON value. The signature is that of its text as `JSON.stringify` writes it, or of the form that contains
   * this text.
   */
  body: unknown;
};

/** Subscription that matches an event but is skipped, because the event cannot be sent to it. */
export type Skip = About & {
  /** URL in the subscription's row; null if it is not a string. */
  url: string | null;
  /** Reason for skipping the subscription, as text. */
  reason: string;
};

/** Deliveries and skips of a call or request that succeeded, in order. */
export type Outgoing = { deliveries: Delivery[]; skips: Skip[] };

export type Outbox = {
  /** Begins a turn; drops entries that an earlier turn left. */
  begin(): void;
  hold(deliveries: readonly Delivery[], skips: readonly Skip[]): void;
  /**
   * Makes `take` throw this error. The author's code may have caught the error and continued, but the turn must fail.
   */
  fail(error: Error): void;
  /** Returns the number of held deliveries; `skips` returns the number of held skips. */
  size(): number;
  skips(): number;
  /** Returns all held deliveries and skips, in order, and empties the outbox. Throws the error given to `fail`. */
  take(): Outgoing;
};

/** Returns an empty result, for a call or request that sends nothing. */
export const nothingOutgoing = (): Outgoing => ({ deliveries: [], skips: [] });

/** Creates an empty outbox. */
export const createOutbox = (): Outbox => {
  let pending = nothingOutgoing();
  let failure: Error | undefined;
  // The returned lists are recorded later, when the next turn may already have deliveries, so they are never reused.
  const empty = (): Outgoing => {
    const taken = pending;
    pending = nothingOutgoing();
    return taken;
  };
  return {
    begin() {
      empty();
      failure = undefined;
    },
    fail(error) {
      failure ??= error;
    },
    hold(deliveries, skips) {
      pending.deliveries.push(...deliveries);
      pending.skips.push(...skips);
    },
    size: () => pending.deliveries.length,
    skips: () => pending.skips.length,
    take() {
      const taken = empty();
      if (failure !== undefined) throw failure;
      return taken;
    },
  };
};

const noteOf = (
  { event, at }: About,
  { callId, ...rest }: Pick<LedgerNote, 'via' | 'request' | 'response'> & { callId: string | null },
): LedgerNote => ({
  at: at.toISOString(),
  operation: event,
  method: 'POST',
  path: null,
  status: null,
  duration_ms: 0,
  changes: {},
  call_id: callId,
  ...rest,
});

/**
 * Returns a delivery as an entry of the request ledger. `generation` is the number of resets before the delivery. The
 * entry has no status, since no receiver has got the delivery yet.
 */
export const noteOfDelivery = (
  delivery: Delivery,
  generation: number,
  callId: string | null,
): LedgerNote => {
  const { url, subscription, world, headers, body, scope } = delivery;
  const of = { subscription, ...(world === null ? {} : { world }), generation };
  const request = { url, ...of, headers, body, scope };
  return noteOf(delivery, { via: 'webhook', request, response: null, callId });
};

/** Returns a skipped subscription as an entry of the request ledger. */
export const noteOfSkip = (skip: Skip, callId: string | null): LedgerNote => {
  const { url, subscription, world, scope, reason } = skip;
  const request = { url, subscription, ...(world === null ? {} : { world }), scope };
  return noteOf(skip, { via: 'webhook-skipped', request, response: { reason }, callId });
};
