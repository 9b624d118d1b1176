/**
 * Exchanges messages between a session's world host and its browser (`#wire/browser-link`). The browser reports its
 * events, which are recorded in the ledger, and receives orders. The session may have no browser, or one browser at a
 * time: if a browser is lost, another browser may replace it. A caller waits for a browser only for a limited time.
 */
import type { BrowserOrder, BrowserOrders, BrowserReport } from '#wire/browser-link/exchange.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Result of a requested screenshot. */
export type Picture = { output: unknown } | { error: { code: string; message: string } };

export type BrowserHubOptions = {
  ledger: Pick<Ledger, 'note'>;
  /** Maximum time to wait for a browser that is disconnected, in milliseconds. */
  patienceMs?: number;
};

const usualPatienceMs = 15_000;
const mostOrders = 20;

/**
 * Returns the identity of a browser: the id of its host and its generation, since each host counts its generations by
 * itself.
 */
const browserOf = ({ hostId = '', generation }: BrowserReport): string => `${hostId} ${generation}`;

type Waiting = { order: BrowserOrder; done(picture: Picture): void };

/** Exchange of one session with its browser; initially, no browser has connected. */
export class BrowserHub {
  readonly #ledger: Pick<Ledger, 'note'>;
  readonly #patienceMs: number;
  #resets = 0;
  /** Number of resets that have taken effect in the current browser's profile. */
  #seenResets = 0;
  /** Current browser, and the number of its entries that are recorded. */
  #present = { browser: '', recorded: 0 };
  /**
   * Browsers that were replaced by another. They may still report, because they may not know that they were replaced.
   */
  readonly #former = new Set<string>();
  #nextId = 1;
  /** Requested screenshots that the browser has not sent yet, by the id of their order. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #wakers = new Set<() => void>();

  constructor({ ledger, patienceMs = usualPatienceMs }: BrowserHubOptions) {
    this.#ledger = ledger;
    this.#patienceMs = patienceMs;
  }

  /**
   * Accepts a report and returns orders. If there are no orders, the answer is held back as long as the report allows,
   * or until `ending` aborts.
   */
  async exchange(report: BrowserReport, ending: AbortSignal): Promise<BrowserOrders> {
    const browser = browserOf(report);
    if (this.#former.has(browser)) {
      await this.#pause(report.hold * 1_000, ending);
      return { resets: report.resets, taken: report.first + report.entries.length, orders: [] };
    }
    if (browser !== this.#present.browser) {
      // Browsers of the previous release do not name their host, so the same identity may come again.
      if (report.hostId !== undefined) this.#former.add(this.#present.browser);
      this.#present = { browser, recorded: report.first };
    }
    this.#record(report);
    this.#seenResets = report.resets;
    for (const { id, output, error } of report.answers) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      waiting?.done(error === undefined ? { output } : { error });
    }
    this.#wake();
    const hasOrders = this.#waiting.size > 0 || this.#seenResets < this.#resets;
    if (report.hold > 0 && !hasOrders) await this.#pause(report.hold * 1_000, ending);
    return this.#orders();
  }

  /** Takes a screenshot of the browser. */
  async picture(wanted: Pick<BrowserOrder, 'format' | 'fullPage'>): Promise<Picture> {
    if (this.#waiting.size >= mostOrders) {
      const message = `${mostOrders} screenshots of this session are pending, the maximum; try again when one is taken`;
      return { error: { code: 'too_many', message } };
    }
    const id = this.#nextId;
    this.#nextId += 1;
    const order = { id, do: 'screenshot', ...wanted } as const;
    const answered = Promise.withResolvers<Picture>();
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      const message = `the session’s browser did not answer within ${this.#patienceMs} ms; try again when the session is ready`;
      answered.resolve({ error: { code: 'browser_unavailable', message } });
    }, this.#patienceMs);
    this.#waiting.set(id, { order, done: answered.resolve });
    this.#wake();
    return answered.promise.finally(() => clearTimeout(timer));
  }

  /** Informs the browser that the session was reset. Resolves with true if the browser has a fresh profile by then. */
  async reset(): Promise<boolean> {
    this.#resets += 1;
    const wanted = this.#resets;
    const endsAt = performance.now() + this.#patienceMs;
    this.#wake();
    while (this.#seenResets < wanted && performance.now() < endsAt) {
      await this.#pause(endsAt - performance.now());
    }
    return this.#seenResets >= wanted;
  }

  #wake(): void {
    for (const wakeOne of [...this.#wakers]) wakeOne();
  }

  /** Resolves on the next event, after `ms` milliseconds, or when the signal aborts. */
  #pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(end);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#wakers.add(end);
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end);
    });
  }

  /** Records the entries of a report that were not recorded before. */
  #record({ first, entries, resets }: BrowserReport): void {
    for (const [index, entry] of entries.entries()) {
      if (first + index < this.#present.recorded) continue;
      this.#present.recorded = first + index + 1;
      // Entries of a profile that a reset discards belong to the time before the reset, so they are dropped.
      if (resets < this.#resets && this.#seenResets < this.#resets) continue;
      const { at, operation, path = null, detail } = entry;
      this.#ledger.note({
        ...{ at, via: 'browser', operation, method: null, path, status: null },
        ...{ request: detail, response: null, duration_ms: 0, changes: {}, call_id: null },
      });
    }
  }

  #orders(): BrowserOrders {
    return {
      resets: this.#resets,
      taken: this.#present.recorded,
      orders: [...this.#waiting.values()].map(({ order }) => order),
    };
  }
}
