/**
 * Exchange between a session's world host and its browser (`#wire/browser-link`). The browser reports its events,
 * which are recorded in the ledger, and receives orders. The session may have no browser, one, or after a loss another
 * one. A caller waits a limited time for it.
 */
import type { BrowserOrder, BrowserOrders, BrowserReport } from '#wire/browser-link/exchange.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Result of a requested screenshot. */
export type Picture = { output: unknown } | { error: { code: string; message: string } };

export type BrowserHub = {
  /**
   * Accepts a report and returns orders. Without orders, the answer is held as long as the report allows, or until
   * `ending` aborts.
   */
  exchange(report: BrowserReport, ending: AbortSignal): Promise<BrowserOrders>;
  /** Takes a screenshot of the browser. */
  picture(wanted: Pick<BrowserOrder, 'format' | 'fullPage'>): Promise<Picture>;
  /** Tells the browser that the session was reset. Resolves with true if the browser has a fresh profile by now. */
  reset(): Promise<boolean>;
};

export type BrowserHubOptions = {
  ledger: Pick<Ledger, 'note'>;
  /** Time to wait for a browser that is disconnected, in milliseconds. */
  patienceMs?: number;
};

const usualPatienceMs = 15_000;
const mostOrders = 20;

/** Returns the identity of a browser. It includes the host, since each host counts its generations by itself. */
const browserOf = ({ hostId = '', generation }: BrowserReport): string => `${hostId} ${generation}`;

type Waiting = { order: BrowserOrder; done(picture: Picture): void };

/** Creates the hub of a session, before any browser has connected. */
export const createBrowserHub = ({
  ledger,
  patienceMs = usualPatienceMs,
}: BrowserHubOptions): BrowserHub => {
  let resets = 0;
  /** Number of resets that the current browser's profile has seen. */
  let seen = 0;
  /** Current browser, and the number of its entries that are recorded. */
  let present = { browser: '', taken: 0 };
  /** Browsers that were replaced. They may still report, since they may not know. */
  const former = new Set<string>();
  let nextId = 1;
  const waiting = new Map<number, Waiting>();
  const wakers = new Set<() => void>();

  const wake = (): void => {
    for (const wakeOne of [...wakers]) wakeOne();
  };

  /** Resolves on the next event, after `ms`, or when the signal aborts. */
  const rest = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        wakers.delete(end);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      wakers.add(end);
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end);
    });

  const take = ({ first, entries, resets: of }: BrowserReport): void => {
    for (const [index, entry] of entries.entries()) {
      if (first + index < present.taken) continue;
      present.taken = first + index + 1;
      // Entries of a profile that a reset discards belong to the time before the reset, so they are dropped.
      if (of < resets && seen < resets) continue;
      const { at, operation, path = null, detail } = entry;
      ledger.note({
        ...{ at, via: 'browser', operation, method: null, path, status: null },
        ...{ request: detail, response: null, duration_ms: 0, changes: {}, call_id: null },
      });
    }
  };

  const orders = (): BrowserOrders => ({
    resets,
    taken: present.taken,
    orders: [...waiting.values()].map(({ order }) => order),
  });

  return {
    async exchange(report, ending) {
      const browser = browserOf(report);
      if (former.has(browser)) {
        await rest(report.hold * 1_000, ending);
        return { resets: report.resets, taken: report.first + report.entries.length, orders: [] };
      }
      if (browser !== present.browser) {
        // Browsers of the previous release do not name their host, so the same identity may come again.
        if (report.hostId !== undefined) former.add(present.browser);
        present = { browser, taken: report.first };
      }
      take(report);
      seen = report.resets;
      for (const { id, output, error } of report.answers) {
        const asked = waiting.get(id);
        waiting.delete(id);
        asked?.done(error === undefined ? { output } : { error });
      }
      wake();
      if (report.hold > 0 && waiting.size === 0 && seen >= resets) {
        await rest(report.hold * 1_000, ending);
      }
      return orders();
    },
    async picture(wanted) {
      if (waiting.size >= mostOrders) {
        return {
          error: { code: 'too_many', message: `${mostOrders} pictures are asked for already` },
        };
      }
      const id = nextId;
      nextId += 1;
      const order = { id, do: 'screenshot', ...wanted } as const;
      const answered = Promise.withResolvers<Picture>();
      const timer = setTimeout(() => {
        waiting.delete(id);
        const message = `the session’s browser did not answer within ${patienceMs} ms; try again when the session is ready`;
        answered.resolve({ error: { code: 'browser_unavailable', message } });
      }, patienceMs);
      waiting.set(id, { order, done: answered.resolve });
      wake();
      return answered.promise.finally(() => clearTimeout(timer));
    },
    async reset() {
      resets += 1;
      const wanted = resets;
      const endsAt = performance.now() + patienceMs;
      wake();
      while (seen < wanted && performance.now() < endsAt) {
        await rest(endsAt - performance.now());
      }
      return seen >= wanted;
    },
  };
};
