/**
 * Views: the positions of an entity's matching rows in a requested order. A view is built by scanning the entity in
 * batches, and other work runs between batches. A view is cached until a row of the entity changes, so that a list is
 * sorted once and not for each page.
 *
 * A position takes eight bytes. All views of a world together have at most `mostCached` cached positions.
 */
import { setImmediate } from 'node:timers/promises';
import { AppError } from '#domain/error.ts';
import type { FieldPath } from '#language/contract.ts';
import type { Filter } from '#store/read/filter.ts';
import type { WorldStore } from '#store/world-store.ts';
import { mergeRuns, type Run, sortRun } from './sorted-runs.ts';

export type ViewQuery = {
  entity: string;
  where: readonly Filter[];
  words: readonly string[];
  sort: { path: FieldPath; descending: boolean } | undefined;
};

/** Positions of the matching rows, in order. */
export type View = { positions: Float64Array };

export type Views = {
  /**
   * Returns the view of a query. Throws `StoreRefusal` for an invalid query. Throws `AppError` with code `timeout` if
   * the scan takes too long, and with code `unavailable` while too many other views are waiting.
   */
  of(query: ViewQuery): Promise<View>;
};

/**
 * Target processor time of one batch, in milliseconds. Wall-clock time would also count other work: on a busy machine,
 * batches would become ever shorter, and the scan ever longer. The next constant is the number of rows in the first
 * batch.
 */
const stretchMs = 8;
const firstRows = 500;
const mostRows = 50_000;

const longestMs = 10_000;
const mostWaiting = 20;
const mostCached = 4_000_000;

type CachedView = { version: number; view: Promise<View>; size: number };

const build = async (store: WorldStore, query: ViewQuery): Promise<View> => {
  const { entity, where, words, sort } = query;
  const endsAt = performance.now() + longestMs;
  const pause = async (): Promise<void> => {
    await setImmediate();
    if (performance.now() < endsAt) return;
    const message = `looking through ${entity} took longer than ${longestMs / 1_000} s; ask for fewer rows by a filter of a key, or of a field that refers to another entity`;
    throw new AppError('timeout', message);
  };
  const runs: Run[] = [];
  const unsorted: number[][] = [];
  let after = -1;
  let rows = firstRows;
  for (;;) {
    const { found, last, tookMs } = await store.exclusively(() => {
      const before = process.threadCpuUsage();
      const window = store.window(entity, { where, words, sortBy: sort?.path, after, rows });
      const { user, system } = process.threadCpuUsage(before);
      return { ...window, tookMs: (user + system) / 1_000 };
    });
    if (last === undefined) break;
    if (sort === undefined) unsorted.push(found.map(([position]) => position));
    else runs.push(sortRun(found, sort.descending));
    after = last;
    rows = Math.round(Math.min(mostRows, Math.max(50, (rows * stretchMs) / Math.max(tookMs, 1))));
    await pause();
  }
  if (sort === undefined) return { positions: Float64Array.from(unsorted.flat()) };
  const { positions } = await mergeRuns(runs, { descending: sort.descending, pause });
  return { positions };
};

/** Creates the views of one world. */
const createViews = (store: WorldStore): Views => {
  const cache = new Map<string, CachedView>();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const evict = (): void => {
    let total = [...cache.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [key, { size }] of cache) {
      if (total <= mostCached) return;
      cache.delete(key);
      total -= size;
    }
  };

  /** Builds views one after another, because concurrent scans would only slow each other down. */
  const inTurn = (query: ViewQuery): Promise<View> => {
    if (waiting >= mostWaiting) {
      const message = `${waiting} lists of this session are being prepared; try again in a moment`;
      throw new AppError('unavailable', message);
    }
    waiting += 1;
    const view = last.then(() => build(store, query));
    const leave = (): void => {
      waiting -= 1;
    };
    last = view.then(leave, leave);
    return view;
  };

  return {
    of(query) {
      const key = JSON.stringify(query);
      const version = store.versions.version(query.entity);
      const known = cache.get(key);
      cache.delete(key);
      if (known !== undefined && known.version === version) {
        cache.set(key, known);
        return known.view;
      }
      const entry: CachedView = { version, view: inTurn(query), size: 0 };
      cache.set(key, entry);
      const forget = (): void => {
        if (cache.get(key) === entry) cache.delete(key);
      };
      entry.view.then(({ positions }) => {
        entry.size = positions.length;
        evict();
      }, forget);
      return entry.view;
    },
  };
};

const byStore = new WeakMap<WorldStore, Views>();

/** Returns the views of a world, which live as long as its store. */
export const viewsOf = (store: WorldStore): Views => {
  const known = byStore.get(store);
  if (known !== undefined) return known;
  const views = createViews(store);
  byStore.set(store, views);
  return views;
};
