import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answeredMs, createOpenPriority, mostHeldMs } from './open-priority.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Creates work that lasts until `end` is called. */
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

  it('waits while a session is opened, and continues after the answer to the open was sent', async () => {
    const priority = createOpenPriority(() => Date.now());
    const open = lasting();
    const opened = priority.during(open.work);
    const writer = followed(priority.giving());
    await vi.advanceTimersByTimeAsync(100);
    expect(writer.isClear).toBe(false);
    open.end();
    await opened;
    await vi.advanceTimersByTimeAsync(answeredMs - 1);
    expect(writer.isClear).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(writer.isClear).toBe(true);
  });

  it('does not wait for an open that waits for its host', async () => {
    const priority = createOpenPriority(() => Date.now());
    void priority.during(lasting().work);
    const writer = followed(priority.giving());
    await vi.advanceTimersByTimeAsync(250);
    expect(writer.isClear).toBe(true);
  });

  it('continues after its maximum wait, however many sessions are opened', async () => {
    const priority = createOpenPriority(() => Date.now());
    const opens = setInterval(() => void priority.during(lasting().work), 50);
    const yieldToOpens = priority.giving();
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

  it('lets the event loop read pending requests first after a recent open, and otherwise continues at once', async () => {
    const priority = createOpenPriority(() => Date.now());
    const early = followed(priority.giving());
    await Promise.resolve();
    expect(early.isClear).toBe(true);
    await priority.during(async () => undefined);
    await vi.advanceTimersByTimeAsync(answeredMs);
    const open = lasting();
    setImmediate(() => void priority.during(open.work));
    const later = followed(priority.giving());
    await vi.advanceTimersByTimeAsync(100);
    expect(later.isClear).toBe(false);
    open.end();
    await vi.advanceTimersByTimeAsync(answeredMs);
    expect(later.isClear).toBe(true);
  });
});
