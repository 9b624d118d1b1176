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

export type WorldLink = {
  note(entry: BrowserEntry): void;
  /** Tries for at most `patienceMs` to deliver the queued entries, then ends. */
  stop(patienceMs: number): Promise<void>;
};

export type WorldLinkOptions = {
  hostId: string;
  generation: number;
  /** Sends a report; throws if it cannot be delivered now. */
  exchange(report: BrowserReport, signal: AbortSignal): Promise<BrowserOrders>;
  /** Executes an order; an error that it throws becomes the order's answer. */
  carryOut(order: BrowserOrder): Promise<unknown>;
  /** Resets the profile, because it has not seen all of the session's resets. */
  reset(): Promise<void>;
  /** Number of resets that the initial profile has seen; undefined if it is a fresh one. */
  resets: number | undefined;
  onResets(resets: number): void;
  log: Log;
};

const mostWaiting = 1_000;
const mostAtOnce = 100;
const holdS = limits.pollMs / 1_000;
/** Delay that lets entries that occur together be sent together. */
const gatherMs = 50;

const failureOf = (error: unknown): NonNullable<BrowserAnswer['error']> => ({
  code: 'browser_unavailable',
  message: describeError(error).slice(0, limits.messageChars),
});

/** Opens the connection. */
export const openWorldLink = (options: WorldLinkOptions): WorldLink => {
  const { hostId, generation, log } = options;
  let entries: BrowserEntry[] = [];
  /** Number of the first queued entry. */
  let first = 0;
  let left = 0;
  let answers: BrowserAnswer[] = [];
  let resets = options.resets;
  let resetting: Promise<void> | undefined;
  const begun = new Set<number>();

  const report = (hold: number): BrowserReport => ({
    hostId,
    generation,
    resets: resets ?? 0,
    first,
    entries: entries.slice(0, mostAtOnce),
    answers,
    hold,
  });

  const answer = (given: BrowserAnswer): void => {
    answers = [...answers, given];
    news.nudge();
  };

  const obey = (order: BrowserOrder): void => {
    if (begun.has(order.id)) return;
    begun.add(order.id);
    options.carryOut(order).then(
      (output) => answer({ id: order.id, output: output ?? null }),
      (error: unknown) => answer({ id: order.id, error: failureOf(error) }),
    );
  };

  /** Resets the profile if the session was reset after the profile began. */
  const catchUp = async (wanted: number): Promise<void> => {
    if (resets === undefined) {
      resets = wanted;
      options.onResets(wanted);
    }
    if (resets >= wanted) return;
    const begin = async (): Promise<void> => {
      options.onResets(wanted);
      await options.reset();
      resets = wanted;
    };
    resetting ??= begin().finally(() => {
      resetting = undefined;
    });
    await resetting;
  };

  const takeUp = async ({ taken, ...told }: BrowserOrders, sent: BrowserReport): Promise<void> => {
    entries = entries.slice(Math.max(0, taken - first));
    first = Math.max(first, taken);
    answers = answers.filter((one) => !sent.answers.includes(one));
    await catchUp(told.resets);
    for (const order of told.orders) obey(order);
  };

  const exchange = async (hold: number, signal: AbortSignal): Promise<void> => {
    const sent = report(hold);
    await takeUp(await options.exchange(sent, signal), sent);
  };

  const isWaiting = (): boolean => entries.length > 0 || answers.length > 0;
  // One request is held open for orders; reports are sent beside it.
  const orders = startLoop({
    name: 'browser orders',
    everyMs: 0,
    log,
    tick: (signal) => exchange(holdS, signal),
  });
  const news: Loop<void> = startLoop({
    name: 'browser news',
    everyMs: 60_000,
    log,
    async tick(signal) {
      while (isWaiting() && !signal.aborted) await exchange(0, signal);
    },
  });
  let gathering: NodeJS.Timeout | undefined;

  return {
    note(entry) {
      if (entries.length >= mostWaiting) {
        left += 1;
        return;
      }
      const detail = left === 0 ? entry.detail : { ...entry.detail, leftOut: left };
      left = 0;
      entries.push({ ...entry, detail });
      gathering ??= setTimeout(() => {
        gathering = undefined;
        news.nudge();
      }, gatherMs);
    },
    async stop(patienceMs) {
      clearTimeout(gathering);
      await Promise.all([orders.stop(), news.stop()]);
      if (!isWaiting()) return;
      await exchange(0, AbortSignal.timeout(patienceMs)).catch((error: unknown) =>
        log.debug({ error: describeError(error) }, 'the last entries of a browser were not taken'),
      );
    },
  };
};
