import { describe, expect, it } from 'vitest';
import { createRouteFeed, type RouteFeed } from './route-feed.ts';

/** Returns the cursor at the end of a feed. Positions in other feeds that the given cursor has are kept. */
const reach = (feed: RouteFeed, cursor = ''): string => feed.since(cursor)?.cursor ?? cursor;

describe('the feed of routes', () => {
  it('returns the sessions whose route changed after a cursor, each once', () => {
    const feed = createRouteFeed();
    const first = feed.since('');
    expect(first).toMatchObject({ missed: true, sessionIds: [] });
    const cursor = first?.cursor ?? '';
    expect(feed.since(cursor)).toBeUndefined();
    for (const id of ['a', 'b', 'a']) feed.note(id);
    expect(feed.since(cursor)).toMatchObject({ missed: false, sessionIds: ['a', 'b'] });
    expect(feed.since(reach(feed, cursor))).toBeUndefined();
  });

  it('reports `missed` for a cursor if the feed no longer has all changes after the cursor', () => {
    const feed = createRouteFeed(2);
    const cursor = reach(feed);
    for (const id of ['a', 'b', 'c', 'd', 'e']) feed.note(id);
    const late = feed.since(cursor);
    expect(late?.missed).toBe(true);
    expect(feed.since(late?.cursor ?? '')).toBeUndefined();
    feed.breakOff();
    expect(feed.since(late?.cursor ?? '')?.missed).toBe(true);
    for (const foreign of ['', 'x', reach(createRouteFeed()), '.1', 'x.y', ',,', 'a.1,b.2']) {
      expect(feed.since(foreign)?.missed, foreign).toBe(true);
    }
  });

  it('can be followed in several processes by turns without reporting `missed`', () => {
    const feeds = [createRouteFeed(), createRouteFeed(), createRouteFeed()] as const;
    let cursor = '';
    for (const feed of feeds) {
      expect(feed.since(cursor)?.missed).toBe(true);
      cursor = reach(feed, cursor);
    }
    for (const feed of feeds) feed.note('a');
    for (const feed of feeds) {
      expect(feed.since(cursor)).toMatchObject({ missed: false, sessionIds: ['a'] });
      cursor = reach(feed, cursor);
    }
    for (const feed of feeds) expect(feed.since(cursor)).toBeUndefined();
  });

  it('returns cursors of bounded length, however many processes come and go', () => {
    let cursor = '';
    for (let i = 0; i < 50; i += 1) cursor = reach(createRouteFeed(), cursor);
    expect(cursor.length).toBeLessThan(256);
  });
});
