/**
 * Outbox of the current turn: webhook deliveries, held until the call or request has succeeded. If it fails, nothing
 * is sent.
 */
import type { Row } from '#language/contract.ts';
import type { LedgerNote } from '../ledger/ledger.ts';

type About = {
  event: string;
  /** Key of the subscription; null if the entry stands for several. */
  subscription: Row | null;
  /** Alias of the linked world that sends it; null for the session's own. */
  world: string | null;
  scope: Row | null;
  /** Time at which it was made, by the machine's clock. */
  at: Date;
};

/** Delivery of one event to one subscription. */
export type Delivery = About & {
  url: string;
  /** Headers, including the signature. */
  headers: Record<string, string>;
  /**
   * Body as a JSON value. Its text as `JSON.stringify` writes it was signed, or is contained in the form that was
   * signed.
   */
  body: unknown;
};

/** Subscription that matches an event but cannot be sent it. */
export type Skip = About & {
  /** URL as the row has it; null if it is not a string. */
  url: string | null;
  /** Reason, as text. */
  reason: string;
};

/** Deliveries and skips of a call or request that succeeded, in order. */
export type Outgoing = { deliveries: Delivery[]; skips: Skip[] };

export type Outbox = {
  /** Drops leftovers of an earlier turn. */
  begin(): void;
  hold(deliveries: readonly Delivery[], skips: readonly Skip[]): void;
  /** Makes `take` throw this error, because the author's code may have caught it and continued. */
  fail(error: Error): void;
  /** Returns the number of held deliveries; `skips` returns that of skips. */
  size(): number;
  skips(): number;
  /** Returns and removes everything held, in order. Throws the error given to `fail`. */
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
 * Returns a delivery as an entry of the request ledger; `generation` is the number of resets before it. It has no
 * status, since no receiver has got it yet.
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
