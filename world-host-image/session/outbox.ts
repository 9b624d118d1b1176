/**
 * What the turn under way is going to send: deliveries of webhooks, held until it is known whether the
 * call or request succeeds. One that fails sends nothing.
 */
import type { Row } from '#language/contract.ts';
import type { LedgerNote } from '../ledger/ledger.ts';

type About = {
  event: string;
  /** The key of the subscription; null: of several. */
  subscription: Row | null;
  /** The alias of the linked world that sends it; null: the session's own. */
  world: string | null;
  scope: Row | null;
  /** When it was made, by the machine's clock. */
  at: Date;
};

/** One event on its way to one subscription. */
export type Delivery = About & {
  url: string;
  /** Signed. */
  headers: Record<string, string>;
  /** A JSON value whose text, as `JSON.stringify` writes it, is what was signed, or what the form has that was. */
  body: unknown;
};

/** A subscription that wants an event and cannot be sent it. */
export type Skip = About & {
  /** As it stands there; null where that is no text. */
  url: string | null;
  /** Why, in words. */
  reason: string;
};

/** What a call or request that succeeded has sent, in its order. */
export type Outgoing = { deliveries: Delivery[]; skips: Skip[] };

export type Outbox = {
  /** Drops what an earlier turn left behind. */
  begin(): void;
  hold(deliveries: readonly Delivery[], skips: readonly Skip[]): void;
  /** Has the turn fail with this when all is taken: author's code may have caught it, and gone on. */
  fail(error: Error): void;
  /** How many deliveries are held, and how many skips. */
  size(): number;
  skips(): number;
  /** Everything held, in the order it was sent. Throws what the turn is to fail with. */
  take(): Outgoing;
};

/** What a call or request sends that sends nothing. */
export const nothingOutgoing = (): Outgoing => ({ deliveries: [], skips: [] });

/** An empty outbox. */
export const createOutbox = (): Outbox => {
  let held = nothingOutgoing();
  let failure: Error | undefined;
  // What was taken is noted later, when the next turn may hold something already: it is never the same lists.
  const empty = (): Outgoing => {
    const taken = held;
    held = nothingOutgoing();
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
      held.deliveries.push(...deliveries);
      held.skips.push(...skips);
    },
    size: () => held.deliveries.length,
    skips: () => held.skips.length,
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
 * A delivery as the request ledger has it, in a session that was reset so often before. Nobody has received it yet,
 * so it has no status.
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

/** A subscription that was passed over, as the request ledger has it. */
export const noteOfSkip = (skip: Skip, callId: string | null): LedgerNote => {
  const { url, subscription, world, scope, reason } = skip;
  const request = { url, subscription, ...(world === null ? {} : { world }), scope };
  return noteOf(skip, { via: 'webhook-skipped', request, response: { reason }, callId });
};
