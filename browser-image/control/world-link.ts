/**
 * Connects the browser to the world host of its session (`#wire/browser-link`). Events go to the world host, which
 * writes them to the ledger; orders come back. Entries wait in a bounded queue until the world host has accepted them,
 * so a lost connection only delays them.
 */
import { describeError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type {
  BrowserAnswer,
  BrowserEntry,
  BrowserOrder,
  BrowserOrders,
  BrowserReport,
} from '#wire/browser-link/exchange.ts';
import { Outbox } from './outbox.ts';

export type WorldLinkOptions = {
  hostId: string;
  generation: number;
  /** Sends a report; throws if it cannot be delivered now. */
  exchange(report: BrowserReport, signal: AbortSignal): Promise<BrowserOrders>;
  /** Executes an order; an error that it throws becomes the order's answer. */
  carryOut(order: BrowserOrder): Promise<unknown>;
  /** Resets the profile, because it has not seen all of the session's resets. */
  reset(): Promise<void>;
  /** Number of resets that the initial profile has seen; undefined if the profile is a fresh one. */
  resets: number | undefined;
  onResets(resets: number): void;
  log: Log;
};

const holdS = limits.pollMs / 1_000;
/** Delay that lets entries that occur together be sent together, in milliseconds. */
const gatherMs = 50;

const failureOf = (error: unknown): NonNullable<BrowserAnswer['error']> => ({
  code: 'browser_unavailable',
  message: describeError(error).slice(0, limits.messageChars),
});

/** Connection to the world host of one session; it opens at once. */
export class WorldLink {
  readonly #options: WorldLinkOptions;
  readonly #outbox = new Outbox();
  /** Ids of the orders that were executed, or are being executed. */
  readonly #begun = new Set<number>();
  #resets: number | undefined;
  #resetting: Promise<void> | undefined;
  #gathering: NodeJS.Timeout | undefined;
  /** Loop that keeps one request open for orders; reports are sent in requests of their own meanwhile. */
  readonly #orders: Loop<void>;
  readonly #reports: Loop<void>;

  constructor(options: WorldLinkOptions) {
    const { log } = options;
    this.#options = options;
    this.#resets = options.resets;
    this.#orders = startLoop({
      name: 'browser orders',
      everyMs: 0,
      log,
      tick: (signal) => this.#exchange(holdS, signal),
    });
    this.#reports = startLoop({
      name: 'browser news',
      everyMs: 60_000,
      log,
      tick: async (signal) => {
        while (!this.#outbox.isEmpty() && !signal.aborted) await this.#exchange(0, signal);
      },
    });
  }

  /** Queues an entry for the session's ledger. */
  note(entry: BrowserEntry): void {
    if (!this.#outbox.add(entry)) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#reports.nudge();
    }, gatherMs);
  }

  /** Tries for at most `patienceMs` to deliver the queued entries, then ends. */
  async stop(patienceMs: number): Promise<void> {
    clearTimeout(this.#gathering);
    await Promise.all([this.#orders.stop(), this.#reports.stop()]);
    if (this.#outbox.isEmpty()) return;
    await this.#exchange(0, AbortSignal.timeout(patienceMs)).catch((error: unknown) =>
      this.#options.log.debug(
        { error: describeError(error) },
        'the last entries of a browser were not delivered',
      ),
    );
  }

  async #exchange(hold: number, signal: AbortSignal): Promise<void> {
    const { hostId, generation } = this.#options;
    const next = this.#outbox.next();
    const report = { hostId, generation, resets: this.#resets ?? 0, ...next, hold };
    const { taken, resets, orders } = await this.#options.exchange(report, signal);
    this.#outbox.remove(taken, next);
    await this.#catchUp(resets);
    for (const order of orders) this.#obey(order);
  }

  /** Resets the profile if the session was reset after the profile began. */
  async #catchUp(wanted: number): Promise<void> {
    if (this.#resets === undefined) {
      this.#resets = wanted;
      this.#options.onResets(wanted);
    }
    if (this.#resets >= wanted) return;
    this.#resetting ??= this.#reset(wanted).finally(() => {
      this.#resetting = undefined;
    });
    await this.#resetting;
  }

  async #reset(wanted: number): Promise<void> {
    this.#options.onResets(wanted);
    await this.#options.reset();
    this.#resets = wanted;
  }

  /** Executes an order, unless it was received before. */
  #obey(order: BrowserOrder): void {
    if (this.#begun.has(order.id)) return;
    this.#begun.add(order.id);
    this.#options.carryOut(order).then(
      (output) => this.#answer({ id: order.id, output: output ?? null }),
      (error: unknown) => this.#answer({ id: order.id, error: failureOf(error) }),
    );
  }

  #answer(answer: BrowserAnswer): void {
    this.#outbox.answer(answer);
    this.#reports.nudge();
  }
}
