import { describe, expect, it, vi } from 'vitest';
import { keepRunning, type Started } from './keep.ts';

type Fake = Started & { end(): void; stopped: boolean };

const fakes = (failures: readonly number[] = []) => {
  const started: Fake[] = [];
  let attempts = 0;
  const start = async (): Promise<Started> => {
    attempts += 1;
    if (failures.includes(attempts)) throw new Error(`attempt ${attempts} failed`);
    const ended = Promise.withResolvers<void>();
    const fake: Fake = {
      pid: attempts,
      ended: ended.promise,
      stopped: false,
      end: () => ended.resolve(),
      async stop() {
        fake.stopped = true;
        ended.resolve();
        return true;
      },
    };
    started.push(fake);
    return fake;
  };
  return { start, started, attempts: () => attempts };
};

describe('keepRunning', () => {
  const never = new AbortController().signal;

  /** Keeps simulated parts running with `keepRunning`; pauses last until the test ends them. */
  const keep = async (failures?: readonly number[]) => {
    const { start, ...rest } = fakes(failures);
    const said: string[] = [];
    const waits: { ms: number; end(): void }[] = [];
    const wait = (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve());
        waits.push({ ms, end: resolve });
      });
    const say = (message: string): void => {
      said.push(message);
    };
    const kept = await keepRunning({ name: 'part', start, say, wait }, never);
    const nextWait = async (count: number): Promise<number | undefined> => {
      await vi.waitUntil(() => waits.length === count);
      return waits[count - 1]?.ms;
    };
    return { ...rest, kept, said, waits, nextWait };
  };

  it('throws the error of a failed first start', async () => {
    await expect(keep([1])).rejects.toThrow('attempt 1');
  });

  it('restarts a part that ended by itself, and reports that', async () => {
    const { kept, started, said, waits, nextWait } = await keep();
    started[0]?.end();
    expect(await nextWait(1)).toBe(200);
    expect(kept.pid()).toBeUndefined();
    waits[0]?.end();
    await vi.waitUntil(() => kept.pid() === 2);
    expect(said).toEqual([
      'the part ended by itself and is being restarted',
      'the part is up again',
    ]);
    await kept.stop(0);
    expect(started[1]?.stopped).toBe(true);
  });

  it('retries with growing pauses while the part fails to start', async () => {
    const { kept, started, said, waits, nextWait } = await keep([2, 3]);
    started[0]?.end();
    const pauses: (number | undefined)[] = [];
    for (const count of [1, 2, 3]) {
      pauses.push(await nextWait(count));
      waits[count - 1]?.end();
    }
    await vi.waitUntil(() => kept.pid() === 4);
    expect(pauses).toEqual([200, 400, 800]);
    expect(said).toContain('attempt 3 failed');
    await kept.stop(0);
  });

  it('does not restart a part that was stopped', async () => {
    const { kept, attempts, said, waits } = await keep();
    expect(await kept.stop(0)).toBe(true);
    expect(attempts()).toBe(1);
    expect(said).toEqual([]);
    expect(waits).toEqual([]);
  });

  it('can be stopped between the end of a part and its next start', async () => {
    const { kept, started, attempts, nextWait } = await keep();
    started[0]?.end();
    await nextWait(1);
    expect(await kept.stop(0)).toBe(false);
    expect(attempts()).toBe(1);
  });
});
