/**
 * What gateways follow: the sessions whose route changed, as this process heard of them, in a list of
 * bounded length. A cursor names the process and a place in its list; whoever comes with one that is of
 * another process, too old, or from before notices were missed is told so and asks for routes anew.
 */
import { randomBytes } from 'node:crypto';
import type { RouteChanges } from '#wire/gateway-api/operations.ts';

export type RouteFeed = {
  /** A session's route is another now. */
  note(sessionId: string): void;
  /** Notices may have been missed: every cursor given out so far is worth nothing. */
  breakOff(): void;
  /** What came after a cursor; undefined when nothing did. */
  since(cursor: string | undefined): RouteChanges | undefined;
  /** An answer that brings nothing new. */
  nothingSince(cursor: string | undefined): RouteChanges;
};

const mostKept = 10_000;

/** Makes an empty feed. */
export const createRouteFeed = (kept = mostKept): RouteFeed => {
  let era = randomBytes(6).toString('hex');
  let noted: string[] = [];
  /** How many changes of this era are no longer kept. */
  let dropped = 0;
  const here = (): string => `${era}.${dropped + noted.length}`;

  const placeOf = (cursor: string | undefined): number | undefined => {
    const [ofEra, place] = (cursor ?? '').split('.');
    const number = Number(place);
    const isKnown = ofEra === era && number >= dropped && number <= dropped + noted.length;
    return isKnown ? number : undefined;
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
      if (place === undefined) return { cursor: here(), missed: true, sessionIds: [] };
      if (place === dropped + noted.length) return undefined;
      const sessionIds = [...new Set(noted.slice(place - dropped))];
      return { cursor: here(), missed: false, sessionIds };
    },
    nothingSince: (cursor) => ({ cursor: cursor ?? here(), missed: false, sessionIds: [] }),
  };
};
