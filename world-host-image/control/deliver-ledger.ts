/**
 * Gives the entries of a session's ledger to the control plane, where they outlive the session: a few
 * at a time while it is served, deliveries of webhooks at once, what is left when it ends. A session that ends waits
 * for a control plane that is away: its ledger is handed over before the host is let go. Entries that are lost after
 * all are counted: the newest one goes alone then, and the report of the end says how many are missing. A host that is
 * killed takes along what it has not delivered; `ledger/mark.ts` counts that.
 */
import { backoffMs } from '#domain/backoff.ts';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { type ControlLink, type HostIdentity, isRefused, isStale, mayPass } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import { pause } from '#runtime/pause.ts';
import type { LostEntries } from '#wire/host-api/ledger.ts';
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
  /** Delivers what is left and ends. A host that stops, or is told to meanwhile, has little time. */
  finish(options: { isStopping: boolean }): Promise<void>;
  /** Returns what could not be delivered, once `finish` has resolved; undefined when nothing is lost. */
  lost(): LostEntries | undefined;
};

export type DeliveryOptions = {
  link: ControlLink;
  log: Log;
  identity: HostIdentity;
  /** Aborts when the host is told to stop. */
  stopping: AbortSignal;
};

const everyMs = 1_000;
/** Time that a session that ends tries with a control plane that answers; while that is away, no time counts. */
const finishMs = 12_000;
/** The whole time of a host that stops. */
const stoppingMs = 5_000;
/** The part of that which is kept for the newest entry, when the rest is over. */
const lastMs = 1_000;
const pauses = { firstMs: 50, mostMs: 2_000 };

type Batch = { entries: number; chars: number };
const whole: Batch = { entries: limits.ledgerBatchEntries, chars: limits.ledgerBatchChars };
const single: Batch = { ...whole, entries: 1 };
/** What may go along with the end of a session: it is read where all small messages are. */
const little: Batch = { entries: 100, chars: 64 * 1024 };

/** Returns true for the error of a control plane that is not there, or has no database. */
const isAway = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout');

/** Begins to deliver. */
export const startLedgerDelivery = (
  { link, log, identity, stopping }: DeliveryOptions,
  { id: sessionId, ledger }: Pick<Session, 'id' | 'ledger'>,
): LedgerDelivery => {
  const { backlog } = ledger;
  const { generation } = identity;
  let batch = whole;
  let lost = 0;

  const give = (entries: string[], signal: AbortSignal): Promise<unknown> => {
    const body = { generation, entries };
    return link.sendOnce(deliverRequests, { params: { sessionId }, body }, { signal });
  };

  /** Sends the first entries; one that is refused is sent alone, and then left out. */
  const deliver = async (signal: AbortSignal): Promise<void> => {
    const waiting = backlog.first(batch);
    const last = waiting.at(-1);
    if (last === undefined) return;
    const entries = waiting.map(({ json }) => json);
    try {
      await give(entries, signal);
      batch = whole;
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (waiting.length > 1) {
        batch = single;
        return;
      }
      log.warn({ err: error, sessionId, entry: last.id }, 'an entry was not taken');
      lost += 1;
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
        await deliver(signal);
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
      await give([last.json], AbortSignal.timeout(lastMs));
      lost -= 1;
    } catch (error) {
      log.warn({ err: error, sessionId }, 'nor is its newest entry');
    }
  };

  const deliverAll = async (signal: AbortSignal): Promise<void> => {
    let endsAt = performance.now() + finishMs;
    for (let failures = 0; backlog.size() > 0; ) {
      try {
        await deliver(signal);
        failures = 0;
      } catch (error) {
        signal.throwIfAborted();
        if (isAway(error)) endsAt = performance.now() + finishMs;
        if (!mayPass(error) || performance.now() > endsAt) throw error;
        failures += 1;
        await pause(backoffMs(failures, pauses), signal);
      }
    }
  };

  const deliverRest = async (signal: AbortSignal): Promise<void> => {
    await loop.stop();
    try {
      await deliverAll(signal);
    } catch (error) {
      lost += backlog.size();
      log.warn({ err: error, sessionId, lost }, 'the ledger is not delivered whole');
      await deliverLast(error);
    }
  };

  const cut = new AbortController();
  const cutSoon = (): void => {
    setTimeout(() => cut.abort(), stoppingMs - lastMs).unref();
  };
  let finished: Promise<void> | undefined;
  return {
    lost: () => (lost === 0 ? undefined : { entries: lost, lastEntry: ledger.lastId() }),
    async takeLast() {
      await loop.stop();
      const left = backlog.first(little);
      const chars = left.reduce((sum, { json }) => sum + json.length, 0);
      if (left.length < backlog.size() || chars > little.chars) return undefined;
      const newest = left.at(-1)?.id ?? 0;
      return { entries: left.map(({ json }) => json), taken: () => backlog.removeTo(newest) };
    },
    finish({ isStopping }) {
      if (finished === undefined) {
        if (isStopping || stopping.aborted) cutSoon();
        else stopping.addEventListener('abort', cutSoon, { once: true });
      }
      finished ??= deliverRest(cut.signal);
      return finished;
    },
  };
};
