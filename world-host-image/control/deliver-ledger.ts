/**
 * Delivers the entries of a session's ledger to the control plane, where they outlive the session. While the session is
 * served, entries are sent in batches every second, and entries of webhook deliveries at once. At the end of the
 * session, the remaining entries are sent. If the control plane is unavailable at that time, the host waits: it is not
 * released before the ledger is delivered. If entries are lost nevertheless, the newest entry is sent by itself, and
 * the final report states how many are missing. If the host is killed, `ledger/mark.ts` counts the lost entries.
 */
import { backoffMs } from '#domain/backoff.ts';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { type ControlLink, type HostIdentity, isRefused, isStale, mayPass } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { pause } from '#runtime/pause.ts';
import type { LostEntries } from '#wire/host-api/ledger.ts';
import { deliverRequests } from '#wire/host-api/operations.ts';
import type { Session } from '../session/session.ts';

/**
 * Last entries of a ledger, which are sent with the report that the session has ended. The caller runs `onAccepted`
 * once the control plane has accepted them.
 */
export type LastEntries = { entries: readonly string[]; onAccepted(): void };

export type DeliveryOptions = {
  link: ControlLink;
  log: Log;
  identity: HostIdentity;
  /** Aborts when the host has to stop. */
  stopping: AbortSignal;
};

const everyMs = 1_000;
/**
 * Maximum duration of the delivery at the end of a session, in milliseconds. The limit starts anew each time the
 * control plane is found unavailable.
 */
const finishMs = 12_000;
/** Maximum duration of the delivery when the host stops, in milliseconds. */
const stoppingMs = 5_000;
/** Part of `stoppingMs` that is reserved for the newest entry, in milliseconds. */
const lastMs = 1_000;
const pauses = { firstMs: 50, mostMs: 2_000 };

type Batch = { entries: number; chars: number };
const whole: Batch = { entries: limits.ledgerBatchEntries, chars: limits.ledgerBatchChars };
const single: Batch = { ...whole, entries: 1 };
/**
 * Maximum batch that is sent with the report of a session's end. The control plane parses such a report like any other
 * small message.
 */
const little: Batch = { entries: 100, chars: 64 * 1024 };

/** Returns true for the error that means that the control plane, or its database, is unavailable. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout');

/** Delivery of one session's ledger. It starts when it is constructed. */
export class LedgerDelivery {
  readonly #options: DeliveryOptions;
  readonly #sessionId: string;
  readonly #ledger: Session['ledger'];
  /**
   * Generation of the host when the delivery started. `identity` has the next generation before the last entries are
   * sent.
   */
  readonly #generation: number;
  readonly #loop: Loop<void>;
  /** Maximum size of the next batch. */
  #batch = whole;
  #lost = 0;
  #finished: Promise<void> | undefined;

  constructor(options: DeliveryOptions, { id, ledger }: Pick<Session, 'id' | 'ledger'>) {
    this.#options = options;
    this.#sessionId = id;
    this.#ledger = ledger;
    this.#generation = options.identity.generation;
    this.#loop = startLoop({
      name: 'ledger',
      everyMs,
      log: options.log,
      tick: (signal) => this.#deliverPresent(signal),
    });
    // A webhook delivery must not wait for the next tick.
    ledger.backlog.onPinned(() => this.#loop.nudge());
  }

  /**
   * Returns the number of entries that could not be delivered, once `finish` has resolved; undefined if none is lost.
   */
  lost(): LostEntries | undefined {
    if (this.#lost === 0) return undefined;
    return { entries: this.#lost, lastEntry: this.#ledger.lastId() };
  }

  /**
   * Stops the periodic delivery and returns the remaining entries if they are few. The caller runs `onAccepted` once
   * they are accepted. Returns undefined if there are more, which must be delivered before the final report.
   */
  async takeLast(): Promise<LastEntries | undefined> {
    await this.#loop.stop();
    const { backlog } = this.#ledger;
    const left = backlog.first(little);
    const chars = left.reduce((sum, { json }) => sum + json.length, 0);
    if (left.length < backlog.size() || chars > little.chars) return undefined;
    const newest = left.at(-1)?.id ?? 0;
    return { entries: left.map(({ json }) => json), onAccepted: () => backlog.removeTo(newest) };
  }

  /**
   * Delivers the remaining entries, then ends. If the host stops, or has to stop while they are delivered, the delivery
   * has only `stoppingMs`.
   */
  finish({ isStopping }: { isStopping: boolean }): Promise<void> {
    if (this.#finished !== undefined) return this.#finished;
    const { stopping } = this.#options;
    const cut = new AbortController();
    const cutSoon = (): void => {
      setTimeout(() => cut.abort(), stoppingMs - lastMs).unref();
    };
    if (isStopping || stopping.aborted) cutSoon();
    else stopping.addEventListener('abort', cutSoon, { once: true });
    this.#finished = this.#deliverRest(cut.signal);
    return this.#finished;
  }

  #send(entries: string[], signal: AbortSignal): Promise<unknown> {
    const params = { sessionId: this.#sessionId };
    const body = { generation: this.#generation, entries };
    return this.#options.link.sendOnce(deliverRequests, { params, body }, { signal });
  }

  /** Delivers the entries that the ledger has now. Entries recorded meanwhile wait for the next tick. */
  async #deliverPresent(signal: AbortSignal): Promise<void> {
    const { backlog } = this.#ledger;
    const newest = backlog.last()?.id ?? 0;
    while ((backlog.first(single)[0]?.id ?? newest + 1) <= newest) {
      await this.#deliver(signal);
    }
  }

  /**
   * Sends the first batch of entries. If the batch is rejected, the next calls send its entries one by one, and an
   * entry that is rejected by itself is dropped.
   */
  async #deliver(signal: AbortSignal): Promise<void> {
    const { backlog } = this.#ledger;
    const waiting = backlog.first(this.#batch);
    const last = waiting.at(-1);
    if (last === undefined) return;
    try {
      await this.#send(
        waiting.map(({ json }) => json),
        signal,
      );
      this.#batch = whole;
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (waiting.length > 1) {
        this.#batch = single;
        return;
      }
      this.#warn(error, 'the control plane rejected an entry of the ledger', { entry: last.id });
      this.#lost += 1;
    }
    backlog.removeTo(last.id);
  }

  async #deliverRest(signal: AbortSignal): Promise<void> {
    await this.#loop.stop();
    try {
      await this.#deliverAll(signal);
    } catch (error) {
      this.#lost += this.#ledger.backlog.size();
      this.#warn(error, 'entries of the ledger could not be delivered', { lost: this.#lost });
      await this.#deliverLast(error);
    }
  }

  async #deliverAll(signal: AbortSignal): Promise<void> {
    let endsAt = performance.now() + finishMs;
    for (let failures = 0; this.#ledger.backlog.size() > 0; ) {
      try {
        await this.#deliver(signal);
        failures = 0;
      } catch (error) {
        signal.throwIfAborted();
        if (isUnavailable(error)) endsAt = performance.now() + finishMs;
        if (!mayPass(error) || performance.now() > endsAt) throw error;
        failures += 1;
        await pause(backoffMs(failures, pauses), signal);
      }
    }
  }

  /** Sends the newest entry, unless the control plane rejects everything from this host. */
  async #deliverLast(failure: unknown): Promise<void> {
    const last = this.#ledger.backlog.last();
    if (last === undefined || isStale(failure)) return;
    try {
      await this.#send([last.json], AbortSignal.timeout(lastMs));
      this.#lost -= 1;
    } catch (error) {
      this.#warn(error, 'the newest entry of the ledger could not be delivered either');
    }
  }

  #warn(error: unknown, message: string, facts: Record<string, unknown> = {}): void {
    this.#options.log.warn({ err: error, sessionId: this.#sessionId, ...facts }, message);
  }
}
