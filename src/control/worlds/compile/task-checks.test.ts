import { describe, expect, it } from 'vitest';
import type { JobContext } from './process-pool.ts';
import { createTaskChecks } from './task-checks.ts';

const job = (specJson: string, digest = 'sha256:0') =>
  ({ kind: 'check-task', world: { digest, project: 'a' }, specJson }) as const;

/** Builds the cache. The test decides when each check ends. */
const start = () => {
  const begun: { context: JobContext; end: PromiseWithResolvers<unknown> }[] = [];
  const check = createTaskChecks((_, context) => {
    const end = Promise.withResolvers<unknown>();
    begun.push({ context, end });
    return end.promise;
  });
  return { check, begun };
};

const ok = { ok: true, hash: 'sha256:1' };
const asked = { project: 'a' };

describe('checks of tasks', () => {
  it('run once for concurrent requests, and are cached', async () => {
    const { check, begun } = start();
    const all = [check(job('{}'), asked), check(job('{}'), asked)];
    begun[0]?.end.resolve(ok);
    expect(await Promise.all(all)).toEqual([ok, ok]);
    expect(await check(job('{}'), asked)).toEqual(ok);
    expect(begun).toHaveLength(1);
    void check(job('{}', 'sha256:other'), asked);
    void check(job('{"a":1}'), asked);
    expect(begun).toHaveLength(3);
  });

  it('are cached if they found problems, but not if a limit ended them', async () => {
    const { check, begun } = start();
    const wrong = { ok: false, fields: [{ path: ['task'], message: 'wrong' }] };
    const ended = { ok: false, problems: [] };
    for (const outcome of [ended, wrong]) {
      const one = check(job('{}'), asked);
      begun.at(-1)?.end.resolve(outcome);
      expect(await one).toEqual(outcome);
    }
    expect(await check(job('{}'), asked)).toEqual(wrong);
    expect(begun).toHaveLength(2);
  });

  it('continue while one client waits, and are cancelled when the last client disconnects', async () => {
    const { check, begun } = start();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaves = check(job('{}'), { ...asked, signal: first.signal });
    const stays = check(job('{}'), { ...asked, signal: second.signal });
    first.abort();
    await expect(leaves).rejects.toMatchObject({ code: 'unavailable' });
    expect(begun[0]?.context.signal?.aborted).toBe(false);
    second.abort();
    await expect(stays).rejects.toMatchObject({ code: 'unavailable' });
    expect(begun[0]?.context.signal?.aborted).toBe(true);
    const next = check(job('{}'), asked);
    begun[1]?.end.resolve(ok);
    expect(await next).toEqual(ok);
  });

  it('are refused if the specs of the waiting checks together are too large', async () => {
    const { check, begun } = start();
    const spec = (index: number): string => `${index}${' '.repeat(1024 * 1024 - 10)}`;
    const first = check(job(spec(0)), asked);
    for (let index = 1; index < 64; index += 1) void check(job(spec(index)), asked);
    await expect(check(job(spec(64)), asked)).rejects.toMatchObject({ code: 'exhausted' });
    begun[0]?.end.reject(new Error('it failed'));
    await expect(first).rejects.toThrow('it failed');
    void check(job(spec(64)), asked);
    expect(begun).toHaveLength(65);
  });
});
