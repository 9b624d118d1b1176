/**
 * Delivers the entries of a session's ledger to the control plane, where they outlive the session. It sends batches
 * while the session is served, webhook deliveries at once, and the rest at the end. If the control plane is
 * unavailable then, the session waits: the ledger is handed over before the host is released. If entries are lost
 * nevertheless, the newest one is sent alone, and the final report states how many are missing. For a host that is
 * killed, `ledger/mark.ts` counts the lost entries.
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

/** Last entries of a ledger, to be sent with the report that the session has ended. */
export type LastEntries = { entries: readonly string[]; taken(): void };

export type LedgerDelivery = {
  /**
   * Returns the remaining entries if they are few; the caller reports by `taken` that they were accepted. Undefined if
   * there are more, which must then be delivered first.
   */
  takeLast(): Promise<LastEntries | undefined>;
  /** Delivers the remaining entries and ends. A host that stops, or has to stop meanwhile, has little time. */
  finish(options: { isStopping: boolean }): Promise<void>;
  /** Returns the entries that could not be delivered, once `finish` has resolved; undefined when none is lost. */
  lost(): LostEntries | undefined;
};

export type DeliveryOptions = {
  link: ControlLink;
  log: Log;
  identity: HostIdentity;
  /** Aborts when the host has to stop. */
  stopping: AbortSignal;
};

const everyMs = 1_000;
/**
 * Time that delivery at the end of a session may take, in milliseconds. The clock restarts while the control plane is
 * unavailable.
 */
const finishMs = 12_000;
/** Time that delivery may take when the host stops, in milliseconds. */
const stoppingMs = 5_000;
/** Part of `stoppingMs` that is reserved for the newest entry, in milliseconds. */
const lastMs = 1_000;
const pauses = { firstMs: 50, mostMs: 2_000 };

type Batch = { entries: number; chars: number };
const whole: Batch = { entries: limits.ledgerBatchEntries, chars: limits.ledgerBatchChars };
const single: Batch = { ...whole, entries: 1 };
/**
 * Maximum batch that is sent with the end of a session, in a message that the control plane reads like any small one.
 */
const little: Batch = { entries: 100, chars: 64 * 1024 };

/** Returns true for the error of a control plane that is unavailable or has no database. */
const isAway = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout');

/** Starts delivering a ledger. */
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

  /**
   * Sends the first entries. If the batch is rejected, the next attempt sends them one by one, and drops an entry that
   * is rejected alone.
   */
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
      // Delivers the entries present now; later ones wait for the next tick.
      const newest = backlog.last()?.id ?? 0;
      while ((backlog.first(single)[0]?.id ?? newest + 1) <= newest) {
        await deliver(signal);
      }
    },
  });

  // A webhook delivery must not wait for the next tick.
  backlog.onPinned(() => loop.nudge());

  /** Sends the newest entry, unless the control plane rejects everything from this host. */
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
