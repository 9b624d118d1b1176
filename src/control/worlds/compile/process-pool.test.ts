/** Tests jobs whose client has disconnected. */
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { IdleJob } from '#test/support/control/idle-jobs.ts';
import type { JobProgram } from './process.ts';
import { createJobPool, type ProcessPool } from './process-pool.ts';

const program: JobProgram<IdleJob, never> = {
  file: fileURLToPath(new URL('../../../../test/support/control/idle-jobs.ts', import.meta.url)),
  called: 'an idle process',
  words: { undone: 'the job was not done', waits: 'to be done', quota: 'idle_queue' },
  complete: () => undefined,
};

const long = { kind: 'idle', ms: 3_600_000 } as const;
const short = { kind: 'idle', ms: 1 } as const;
const project = 'one';

describe('a job whose client has disconnected', () => {
  let pool: ProcessPool<IdleJob, number, never>;

  const start = (leftMs: number) => {
    const limits = { processes: 2, queued: 4, timeLimitMs: 3_600_000, memoryMb: 64, leftMs };
    pool = createJobPool<'idle', IdleJob, number, never>(program, limits, () => undefined);
  };

  afterEach(() => pool.stop());

  it('is killed after its grace period, even if no other job waits', async () => {
    start(1);
    const gone = new AbortController();
    const left = pool.run(long, { project, signal: gone.signal });
    gone.abort();
    await expect(left).rejects.toMatchObject({ code: 'unavailable' });
    expect(pool.load()).toEqual({ running: 0, queued: 0 });
    expect(await pool.run(short, { project })).toMatchObject({ kind: 'done' });
  });

  it('runs to its end within the grace period, so that its process can be reused', async () => {
    start(3_600_000);
    const gone = new AbortController();
    const left = pool.run(short, { project, signal: gone.signal });
    gone.abort();
    const done = await left;
    expect(done).toMatchObject({ kind: 'done' });
    const next = await pool.run(short, { project });
    expect(next).toMatchObject({ outcome: 'outcome' in done && done.outcome });
  });

  it('is not begun if its client disconnects while its input is loaded', async () => {
    start(3_600_000);
    const gone = new AbortController();
    const brought = Promise.withResolvers<IdleJob>();
    const complete = () => brought.promise;
    const left = pool.run(long, { project, signal: gone.signal, complete });
    gone.abort();
    brought.resolve(long);
    await expect(left).rejects.toMatchObject({ code: 'unavailable' });
    expect(pool.load()).toEqual({ running: 0, queued: 0 });
  });
});
