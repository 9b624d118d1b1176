import { describe, expect, it } from 'vitest';
import { createRouteFeed } from './feed.ts';

describe('the feed of routes', () => {
  it('tells what came after a cursor, each session once', () => {
    const feed = createRouteFeed();
    const first = feed.since(undefined);
    expect(first).toMatchObject({ missed: true, sessionIds: [] });
    expect(feed.since(first?.cursor)).toBeUndefined();
    for (const id of ['a', 'b', 'a']) feed.note(id);
    const next = feed.since(first?.cursor);
    expect(next).toMatchObject({ missed: false, sessionIds: ['a', 'b'] });
    expect(feed.since(next?.cursor)).toBeUndefined();
    expect(feed.nothingSince(next?.cursor)).toEqual({ ...next, sessionIds: [] });
  });

  it('says so when what came between is not known', () => {
    const feed = createRouteFeed(2);
    const cursor = feed.since(undefined)?.cursor;
    for (const id of ['a', 'b', 'c', 'd', 'e']) feed.note(id);
    const late = feed.since(cursor);
    expect(late?.missed).toBe(true);
    expect(feed.since(late?.cursor)).toBeUndefined();
    feed.breakOff();
    expect(feed.since(late?.cursor)?.missed).toBe(true);
    for (const foreign of ['', 'x', `${createRouteFeed().since(undefined)?.cursor}`, '.1', 'x.y']) {
      expect(feed.since(foreign)?.missed, foreign).toBe(true);
    }
  });
});
