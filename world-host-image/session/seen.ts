/**
 * Records what a run of user code reads besides its request: entities and headers. If the author enables
 * `keep_answers`, the same request has the same answer as long as these are unchanged. If a run did more than read, its
 * answer is valid only once.
 */
import type { RunWatch, StoreAccess } from '../usercode/run.ts';

export type Seen = {
  /**
   * True if the run did more than read: it wrote, sent an event, drew a time, id or number, met a refusal, or left
   * something behind.
   */
  isOnce: boolean;
  entities: Set<string>;
  headers: Set<string>;
  /** True if the code iterated over all headers, or if it is unknown which headers it read. */
  allHeaders: boolean;
};

export const nothingSeen = (): Seen => ({
  isOnce: false,
  entities: new Set(),
  headers: new Set(),
  allHeaders: false,
});

/** Wraps the run's access to the store, and records each use of it in `seen`. */
export const watchAccess = (access: StoreAccess, seen: Seen): StoreAccess => {
  const reading = <Value>(entity: string, read: () => Value): Value => {
    try {
      const value = read();
      seen.entities.add(entity);
      return value;
    } catch (error) {
      seen.isOnce = true;
      throw error;
    }
  };
  const once = <Value>(act: () => Value): Value => {
    seen.isOnce = true;
    return act();
  };
  const onRead = (entity: string): void => void seen.entities.add(entity);
  return {
    ...(access.rows === undefined ? {} : { rows: { ...access.rows, onRead } }),
    ...(access.time === undefined ? {} : { time: access.time }),
    get: (entity, key) => reading(entity, () => access.get(entity, key)),
    query: (entity, query) => reading(entity, () => access.query(entity, query)),
    count: (entity, where) => reading(entity, () => access.count(entity, where)),
    insert: (entity, row) => once(() => access.insert(entity, row)),
    update: (entity, key, patch) => once(() => access.update(entity, key, patch)),
    remove: (entity, key) => once(() => access.remove(entity, key)),
    nextInteger: (entity, field, within) => once(() => access.nextInteger(entity, field, within)),
    now: () => once(access.now),
    uuid: () => once(access.uuid),
    deliver: (event) => once(() => access.deliver(event)),
    mintToken: () => once(access.mintToken),
    revokeToken: () => once(access.revokeToken),
  };
};

/** Returns the callbacks that record what the worker reports at the end of a run. */
export const watchRun = (seen: Seen): RunWatch => ({
  onHeaders(names) {
    if (names === 'all') seen.allHeaders = true;
    else for (const name of names) seen.headers.add(name);
  },
  onLeft() {
    seen.isOnce = true;
  },
});
