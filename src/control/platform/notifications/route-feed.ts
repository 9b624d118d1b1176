/**
 * Feed of route changes, which gateways follow. It is a list, of limited length, of the sessions with a changed route
 * of which this process was notified. A cursor holds positions in the lists of several processes, because a load
 * balancer may send each poll to another process. If a cursor has no valid position in this list, the answer says
 * `missed`, and the gateway fetches all routes again. A position is invalid if it is too old or notifications may have
 * been missed after it.
 */
import { randomBytes } from 'node:crypto';
import type { RouteChanges } from '#wire/gateway-api/operations.ts';

export type RouteFeed = {
  /** Records that the route of a session changed. */
  note(sessionId: string): void;
  /** Makes all cursors invalid, because notifications may have been missed. */
  breakOff(): void;
  /** Returns the changes after a cursor; undefined if there are none. A new follower passes ''. */
  since(cursor: string): RouteChanges | undefined;
};

const mostKept = 10_000;
/**
 * Maximum number of processes in a cursor, most recently used first. It is limited because a cursor must fit into a
 * URL.
 */
const mostPlaces = 8;

/** Creates an empty feed. */
export const createRouteFeed = (kept = mostKept): RouteFeed => {
  let era = randomBytes(6).toString('hex');
  let noted: string[] = [];
  /** Number of changes that were dropped from the list since cursors last became invalid. */
  let dropped = 0;
  const isOwn = (place: string): boolean => place.startsWith(`${era}.`);

  const placeOf = (cursor: string): number | undefined => {
    const number = Number(
      cursor
        .split(',')
        .find(isOwn)
        ?.slice(era.length + 1),
    );
    return number >= dropped && number <= dropped + noted.length ? number : undefined;
  };

  /** Returns a cursor at the end of this list. Positions in other processes are kept. */
  const advance = (cursor: string): string => {
    const others = cursor.split(',').filter((place) => place !== '' && !isOwn(place));
    return [`${era}.${dropped + noted.length}`, ...others].slice(0, mostPlaces).join(',');
  };

  return {
    note(sessionId) {
      noted.push(sessionId);
      if (noted.length < 2 * kept) return;
      noted = noted.slice(kept);
      dropped += kept;
    },
    breakOff() {
      era = randomBytes(6).toString('hex');
      noted = [];
      dropped = 0;
    },
    since(cursor) {
      const place = placeOf(cursor);
      if (place === undefined) return { cursor: advance(cursor), missed: true, sessionIds: [] };
      if (place === dropped + noted.length) return undefined;
      const sessionIds = [...new Set(noted.slice(place - dropped))];
      return { cursor: advance(cursor), missed: false, sessionIds };
    },
  };
};
