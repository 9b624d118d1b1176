import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answeredMs, createOpenPriority, mostHeldMs } from './open-priority.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Work that lasts until `end` is called. */
const lasting = () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => ended, end };
};

describe('a writer', () => {
  const followed = (yieldToOpens: () => Promise<void>) => {
    const seen = { isClear: false };
    void yieldToOpens().then(() => {
      seen.isClear = true;
    });
    return seen;
  };

  it('waits while a session is opened, and goes on once that was answered', async () => {
    const way = createOpenPriority(() => Date.now());
    const open = lasting();
    const opened = way.during(open.work);
    const writer = followed(way.giving());
    await vi.advanceTimersByTimeAsync(100);
    expect(writer.isClear).toBe(false);
    open.end();
    await opened;
    await vi.advanceTimersByTimeAsync(answeredMs - 1);
    expect(writer.isClear).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(writer.isClear).toBe(true);
  });

  it('does not wait for the host of a session', async () => {
    const way = createOpenPriority(() => Date.now());
    void way.during(lasting().work);
    const writer = followed(way.giving());
    await vi.advanceTimersByTimeAsync(250);
    expect(writer.isClear).toBe(true);
  });

  it('goes on after a while, however many sessions are opened', async () => {
    const way = createOpenPriority(() => Date.now());
    const opens = setInterval(() => void way.during(lasting().work), 50);
    const yieldToOpens = way.giving();
    await vi.advanceTimersByTimeAsync(100);
    const writer = followed(yieldToOpens);
    await vi.advanceTimersByTimeAsync(mostHeldMs - 10);
    expect(writer.isClear).toBe(false);
    await vi.advanceTimersByTimeAsync(20);
    expect(writer.isClear).toBe(true);
    const next = followed(yieldToOpens);
    await vi.advanceTimersByTimeAsync(0);
    expect(next.isClear).toBe(true);
    clearInterval(opens);
  });

  it('lets the loop read what has arrived where somebody went first lately, and goes on at once where nobody did', async () => {
    const way = createOpenPriority(() => Date.now());
    const early = followed(way.giving());
    await Promise.resolve();
    expect(early.isClear).toBe(true);
    await way.during(async () => undefined);
    await vi.advanceTimersByTimeAsync(answeredMs);
    const open = lasting();
    setImmediate(() => void way.during(open.work));
    const later = followed(way.giving());
    await vi.advanceTimersByTimeAsync(100);
    expect(later.isClear).toBe(false);
    open.end();
    await vi.advanceTimersByTimeAsync(answeredMs);
    expect(later.isClear).toBe(true);
  });
});
