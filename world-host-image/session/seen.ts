/**
 * What a run of user code saw beside its request: the entities that it read and the headers that it looked at.
 * As long as those are as they were, the same request has the same answer, for code of which its author
 * says so. A run that did more than read has an answer for its one request alone.
 */
import type { RunWatch, StoreAccess } from '../usercode/run.ts';

export type Seen = {
  /** It wrote, sent, or was given a time, an id or a number; it was refused something; it left something behind. */
  isOnce: boolean;
  entities: Set<string>;
  headers: Set<string>;
  /** It went over all headers, or nobody knows which. */
  allHeaders: boolean;
};

export const nothingSeen = (): Seen => ({
  isOnce: false,
  entities: new Set(),
  headers: new Set(),
  allHeaders: false,
});

/** The same access, noting what is done with it. */
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

/** What a run tells of itself at its end. */
export const watchRun = (seen: Seen): RunWatch => ({
  onHeaders(names) {
    if (names === 'all') seen.allHeaders = true;
    else for (const name of names) seen.headers.add(name);
  },
  onLeft() {
    seen.isOnce = true;
  },
});
