import { describe, expect, it } from 'vitest';
import { createTopics } from './topics.ts';

const longMs = 10_000;

describe('topics in one process', () => {
  it('wake every watcher of a topic, with the value of the notification', async () => {
    const topics = createTopics<number>();
    const watches = [topics.watch('a'), topics.watch('a')];
    const waits = watches.map((watch) => watch.next(longMs));
    topics.notify('a', 7);
    expect(await Promise.all(waits)).toEqual([
      { isNotified: true, value: 7 },
      { isNotified: true, value: 7 },
    ]);
  });

  it('keep a notification that comes between two waits for the next wait only', async () => {
    const topics = createTopics<number>();
    const watch = topics.watch('a');
    topics.notify('a');
    expect(await watch.next(longMs)).toEqual({ isNotified: true });
    expect(await watch.next(0)).toEqual({ isNotified: false });
  });

  it('wake no watcher of another topic, and no watcher that has ended', async () => {
    const topics = createTopics<number>();
    const watch = topics.watch('a');
    topics.notify('b', 1);
    expect(await watch.next(1)).toEqual({ isNotified: false });
    watch.end();
    topics.notify('a', 1);
    expect(await watch.next(0)).toEqual({ isNotified: false });
  });

  it('end a wait without a notification when its time is over, its signal aborts, or the topics close', async () => {
    const topics = createTopics<number>();
    const leaving = new AbortController();
    const waits = [
      topics.watch('a').next(1),
      topics.watch('a').next(longMs, leaving.signal),
      topics.watch('a').next(longMs, AbortSignal.abort()),
    ];
    leaving.abort();
    const last = topics.watch('b').next(longMs);
    topics.close();
    const late = topics.watch('b').next(longMs);
    expect(await Promise.all([...waits, last, late])).toEqual(
      Array.from({ length: 5 }, () => ({ isNotified: false })),
    );
  });

  it('wake the watchers of all topics when notifications may have been missed', async () => {
    const topics = createTopics<number>();
    const waits = [topics.watch('a').next(longMs), topics.watch('b').next(longMs)];
    topics.notifyAll();
    expect(await Promise.all(waits)).toEqual([{ isNotified: true }, { isNotified: true }]);
  });

  it('pass on no value if there were two notifications since the last wait', async () => {
    const topics = createTopics<number>();
    const watch = topics.watch('a');
    topics.notify('a', 1);
    topics.notify('a', 2);
    expect(await watch.next(0)).toEqual({ isNotified: true });
    topics.notify('a', 3);
    expect(await watch.next(0)).toEqual({ isNotified: true, value: 3 });
  });
});
