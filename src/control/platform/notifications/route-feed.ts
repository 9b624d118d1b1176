/**
 * What gateways follow: the sessions whose route changed, as this process heard of them, in a list of
 * bounded length. A cursor has places in the lists of several processes, as a balancer may lead each poll
 * to another one. Whoever comes without a place in the list of this one, or with one that is too old or
 * from before notices were missed, gets `missed` and asks for all routes again.
 */
import { randomBytes } from 'node:crypto';
import type { RouteChanges } from '#wire/gateway-api/operations.ts';

export type RouteFeed = {
  /** A session's route is another now. */
  note(sessionId: string): void;
  /** Notices may have been missed: every cursor given out so far is worth nothing. */
  breakOff(): void;
  /** What came after a cursor, '' of one who has none; undefined when nothing did. */
  since(cursor: string): RouteChanges | undefined;
};

const mostKept = 10_000;
/** Processes whose places a cursor has, the latest first; it has to fit into a query. */
const mostPlaces = 8;

/** Makes an empty feed. */
export const createRouteFeed = (kept = mostKept): RouteFeed => {
  let era = randomBytes(6).toString('hex');
  let noted: string[] = [];
  /** How many changes of this era are no longer kept. */
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

  /** The end of this list, and what the cursor says of others. */
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
