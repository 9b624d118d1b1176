/**
 * Gives the entries of a session's ledger to the control plane, where they outlive the session: a few
 * at a time while it is served, deliveries of webhooks at once, what is left when it ends. A host that dies takes along what it has not
 * delivered yet. What is left when the time is over is not lost without a word: the newest entry goes
 * alone then, and by its number the control plane knows how many are missing.
 */
import { limits } from '#domain/limits.ts';
import { type ControlLink, type HostIdentity, isRefused, isStale } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import { deliverRequests } from '#wire/host-api/operations.ts';
import type { Session } from '../session/session.ts';

/** The last entries of a ledger, to be told with the end of the session. */
export type LastEntries = { entries: readonly string[]; taken(): void };

export type LedgerDelivery = {
  /**
   * What is left, where that is little: whoever tells it says when it was taken. Undefined where it is more,
   * which is to be delivered first.
   */
  takeLast(): Promise<LastEntries | undefined>;
  /** Delivers what is left, for as long as that may take, and ends. A host that stops has less time. */
  finish(options: { isStopping: boolean }): Promise<void>;
};

export type DeliveryOptions = { link: ControlLink; log: Log; identity: HostIdentity };

const everyMs = 1_000;
/** How long a session that ends waits for its ledger; a host that stops has less time. */
const finishMs = 12_000;
const stoppingMs = 5_000;
/** The part of that which is kept for the newest entry, when the rest is over. */
const lastMs = 1_000;

type Batch = { entries: number; chars: number };
const whole: Batch = { entries: limits.ledgerBatchEntries, chars: limits.ledgerBatchChars };
const single: Batch = { ...whole, entries: 1 };
/** What may go along with the end of a session: it is read where all small messages are. */
const little: Batch = { entries: 100, chars: 64 * 1024 };

/** Begins to deliver. */
export const startLedgerDelivery = (
  { link, log, identity }: DeliveryOptions,
  { id: sessionId, ledger: { backlog } }: Pick<Session, 'id' | 'ledger'>,
): LedgerDelivery => {
  const { generation } = identity;
  let batch = whole;

  const give = (
    send: ControlLink['send'],
    entries: string[],
    signal: AbortSignal,
  ): Promise<unknown> =>
    send(deliverRequests, { params: { sessionId }, body: { generation, entries } }, { signal });

  /** Sends the first entries; one that is refused is sent alone, and then left out. */
  const deliver = async (send: ControlLink['send'], signal: AbortSignal): Promise<void> => {
    const waiting = backlog.first(batch);
    const last = waiting.at(-1);
    if (last === undefined) return;
    const entries = waiting.map(({ json }) => json);
    try {
      await give(send, entries, signal);
      batch = whole;
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (waiting.length > 1) {
        batch = single;
        return;
      }
      log.warn({ err: error, sessionId, entry: last.id }, 'an entry was not taken');
    }
    backlog.removeTo(last.id);
  };

  const loop = startLoop({
    name: 'ledger',
    everyMs,
    log,
    async tick(signal) {
      // All that is there now; what comes meanwhile is for the next tick.
      const newest = backlog.last()?.id ?? 0;
      while ((backlog.first(single)[0]?.id ?? newest + 1) <= newest) {
        await deliver(link.sendOnce, signal);
      }
    },
  });

  // Webhooks are on their way: whoever sends them is not to wait for the next look.
  backlog.onPinned(() => loop.nudge());

  /** Gives the newest entry, unless nothing is taken from this host any more. */
  const deliverLast = async (failure: unknown): Promise<void> => {
    const last = backlog.last();
    if (last === undefined || isStale(failure)) return;
    try {
      await give(link.sendOnce, [last.json], AbortSignal.timeout(lastMs));
    } catch (error) {
      log.warn({ err: error, sessionId }, 'nor is its newest entry');
    }
  };

  const deliverRest = async (mostMs: number): Promise<void> => {
    await loop.stop();
    const signal = AbortSignal.timeout(mostMs - lastMs);
    try {
      while (backlog.size() > 0) await deliver(link.send, signal);
    } catch (error) {
      const lost = backlog.size();
      log.warn({ err: error, sessionId, lost }, 'the ledger is not delivered whole');
      await deliverLast(error);
    }
  };

  let finished: Promise<void> | undefined;
  return {
    async takeLast() {
      await loop.stop();
      const left = backlog.first(little);
      const chars = left.reduce((sum, { json }) => sum + json.length, 0);
      if (left.length < backlog.size() || chars > little.chars) return undefined;
      const newest = left.at(-1)?.id ?? 0;
      return { entries: left.map(({ json }) => json), taken: () => backlog.removeTo(newest) };
    },
    finish({ isStopping }) {
      finished ??= deliverRest(isStopping ? stoppingMs : finishMs);
      return finished;
    },
  };
};
