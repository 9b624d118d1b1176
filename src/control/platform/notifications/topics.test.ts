import { describe, expect, it } from 'vitest';
import { createTopics } from './topics.ts';

const longMs = 10_000;

describe('a bell', () => {
  it('wakes who waits, with the value', async () => {
    const bell = createTopics<number>();
    const watches = [bell.watch('a'), bell.watch('a')];
    const waits = watches.map((watch) => watch.next(longMs));
    bell.ring('a', 7);
    expect(await Promise.all(waits)).toEqual([
      { told: true, value: 7 },
      { told: true, value: 7 },
    ]);
  });

  it('keeps news that come between two waits, and only once', async () => {
    const bell = createTopics<number>();
    const watch = bell.watch('a');
    bell.ring('a');
    expect(await watch.next(longMs)).toEqual({ told: true });
    expect(await watch.next(0)).toEqual({ told: false });
  });

  it('tells nobody else', async () => {
    const bell = createTopics<number>();
    const watch = bell.watch('a');
    bell.ring('b', 1);
    expect(await watch.next(1)).toEqual({ told: false });
    watch.end();
    bell.ring('a', 1);
    expect(await watch.next(0)).toEqual({ told: false });
  });

  it('ends a wait when its time is over, its signal aborts, or all ends', async () => {
    const bell = createTopics<number>();
    const leaving = new AbortController();
    const waits = [
      bell.watch('a').next(1),
      bell.watch('a').next(longMs, leaving.signal),
      bell.watch('a').next(longMs, AbortSignal.abort()),
    ];
    leaving.abort();
    const last = bell.watch('b').next(longMs);
    bell.close();
    const late = bell.watch('b').next(longMs);
    expect(await Promise.all([...waits, last, late])).toEqual(
      Array.from({ length: 5 }, () => ({ told: false })),
    );
  });

  it('wakes everyone when news may have been missed', async () => {
    const bell = createTopics<number>();
    const waits = [bell.watch('a').next(longMs), bell.watch('b').next(longMs)];
    bell.ringAll();
    expect(await Promise.all(waits)).toEqual([{ told: true }, { told: true }]);
  });

  it('brings no value when there were news twice since the last wait', async () => {
    const bell = createTopics<number>();
    const watch = bell.watch('a');
    bell.ring('a', 1);
    bell.ring('a', 2);
    expect(await watch.next(0)).toEqual({ told: true });
    bell.ring('a', 3);
    expect(await watch.next(0)).toEqual({ told: true, value: 3 });
  });
});
