/**
 * The session's browser, as its world host meets it (`#wire/browser-link`): it reports what happened in it, which is noted
 * in the ledger, and is told what to do. There is none, one, or after a loss another one; who asks for something waits a
 * while for it.
 */
import type { BrowserOrder, BrowserOrders, BrowserReport } from '#wire/browser-link/exchange.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** What came of a picture that was asked for. */
export type Picture = { output: unknown } | { error: { code: string; message: string } };

export type BrowserHub = {
  /** Takes a report and answers what is to be done, held for as long as it says, or until `ending`. */
  exchange(report: BrowserReport, ending: AbortSignal): Promise<BrowserOrders>;
  /** A picture of what the browser shows. */
  picture(wanted: Pick<BrowserOrder, 'format' | 'fullPage'>): Promise<Picture>;
  /** The session was reset: resolves with whether its browser has a fresh profile by now. */
  reset(): Promise<boolean>;
};

export type BrowserHubOptions = {
  ledger: Pick<Ledger, 'note'>;
  /** How long a browser that is away is waited for, in milliseconds. */
  patienceMs?: number;
};

const usualPatienceMs = 15_000;
const mostOrders = 20;

/** Which of the session's browsers it is: each host counts its generations by itself. */
const browserOf = ({ hostId = '', generation }: BrowserReport): string => `${hostId} ${generation}`;

type Waiting = { order: BrowserOrder; done(picture: Picture): void };

/** The hub of a session, which no browser has come to yet. */
export const createBrowserHub = ({
  ledger,
  patienceMs = usualPatienceMs,
}: BrowserHubOptions): BrowserHub => {
  let resets = 0;
  /** The resets that the profile of the present browser has seen. */
  let seen = 0;
  /** The session's browser, and how many of its entries are noted. */
  let present = { browser: '', taken: 0 };
  /** Browsers that another one has taken the place of; they may still speak, as they may not know. */
  const former = new Set<string>();
  let nextId = 1;
  const waiting = new Map<number, Waiting>();
  const wakers = new Set<() => void>();

  const wake = (): void => {
    for (const wakeOne of [...wakers]) wakeOne();
  };

  /** Resolves when something has happened, after so long, or when the signal aborts. */
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
      // What a profile did that is thrown away belongs to what the reset has ended.
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
        // Generations of the release before tell no hosts apart, so one may come again.
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
