/**
 * Feed of the sessions whose route changed, as far as this process was notified, in a bounded list. Gateways follow
 * it. A cursor holds positions in the lists of several processes, as a load balancer may send each poll to another
 * one. If a cursor has no valid position in this list, the answer has `missed` and the gateway fetches all routes
 * again. A position is invalid if it is too old or precedes missed notifications.
 */
import { randomBytes } from 'node:crypto';
import type { RouteChanges } from '#wire/gateway-api/operations.ts';

export type RouteFeed = {
  /** Records that the route of a session changed. */
  note(sessionId: string): void;
  /** Invalidates all cursors, because notifications may have been missed. */
  breakOff(): void;
  /** Returns the changes after a cursor, '' for a new follower; undefined if there are none. */
  since(cursor: string): RouteChanges | undefined;
};

const mostKept = 10_000;
/** Maximum number of processes in a cursor, the latest first; it has to fit into a URL. */
const mostPlaces = 8;

/** Creates an empty feed. */
export const createRouteFeed = (kept = mostKept): RouteFeed => {
  let era = randomBytes(6).toString('hex');
  let noted: string[] = [];
  /** Number of changes of this era that were dropped. */
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

  /** Returns a cursor at the end of this list that keeps the positions in other processes. */
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
