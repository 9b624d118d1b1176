/**
 * Attacks of one project on another through the compile processes: slow trees, many trees, and clients that disconnect.
 * The other project's jobs go on; only the project that sends too much is refused.
 */

import { afterEach, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { CompileLimits } from '../../../src/control/config.ts';
import { type Compiler, createCompiler } from '../../../src/control/worlds/compile/compiler.ts';
import { notesWorld, slowWorld } from '../../support/worlds/worlds.ts';

const limits: CompileLimits = {
  processes: 2,
  queued: 4,
  timeLimitMs: 30_000,
  memoryMb: 512,
  secondsPerMinute: 1_000,
};

let compiler: Compiler;
afterEach(() => compiler.stop());

/** Starts a compiler; records the names of ended jobs in order. */
const start = (changed: Partial<CompileLimits> = {}) => {
  const jobs: string[] = [];
  compiler = createCompiler(
    { ...limits, ...changed },
    { ended: ({ kind }) => jobs.push(kind), refused: () => undefined },
  );
  const ended: string[] = [];
  const build = (project: string, name: string, files: TreeFile[], signal?: AbortSignal) => {
    const job = compiler.run({ kind: 'build', files, rowsJson: null }, { project, signal });
    job.then(
      () => ended.push(name),
      () => ended.push(`${name} refused`),
    );
    return job;
  };
  return { build, ended, jobs };
};

describe('a project with slow trees', () => {
  it('delays no tree of another project, however many it sends', async () => {
    const { build, ended } = start();
    const slow = slowWorld();
    const attack = ['s1', 's2', 's3'].map((name) => build('busy', name, slow));
    await build('quiet', 'q1', notesWorld());
    await build('quiet', 'q2', notesWorld());
    expect(ended).toEqual(['q1', 'q2']);
    expect(compiler.load()).toEqual({ running: 1, queued: 2 });
    void Promise.allSettled(attack);
  });

  it('fills only its own queue, not that of another project', async () => {
    const { build } = start();
    const slow = slowWorld();
    const attack = ['s1', 's2', 's3'].map((name) => build('busy', name, slow));
    await expect(build('busy', 's4', slow)).rejects.toMatchObject({
      code: 'exhausted',
      message:
        '2 jobs of your project already wait to be compiled or checked, the maximum: wait for one to finish, then try again',
      detail: { quota: 'compile_queue', retryAfterMs: expect.any(Number) },
    });
    expect(await build('quiet', 'q1', notesWorld())).toMatchObject({ ok: true });
    void Promise.allSettled(attack);
  });

  it('loses its newest queued tree to a project that has none queued, when the queue is full', async () => {
    const { build, ended } = start({ processes: 1, queued: 3 });
    const slow = slowWorld();
    const jobs = [
      build('busy', 's1', slow),
      build('busy', 's2', notesWorld()),
      build('busy', 's3', notesWorld()),
      build('other', 'o1', notesWorld()),
      build('quiet', 'q1', notesWorld()),
    ];
    await Promise.allSettled(jobs);
    expect(ended).toEqual(['s3 refused', 's1', 's2', 'o1', 'q1']);
  });

  it('is refused when it has spent its processor time, while another project is not', async () => {
    const { build } = start({ secondsPerMinute: 1 });
    const refused = async (): Promise<boolean> =>
      build('busy', 'slow', slowWorld()).then(
        () => false,
        () => true,
      );
    for (let jobs = 0; jobs < 10 && !(await refused()); jobs += 1);
    await expect(build('busy', 's3', notesWorld())).rejects.toMatchObject({
      code: 'exhausted',
      message: expect.stringContaining('has spent its 1 s of compile time for a minute'),
      detail: { quota: 'compile_seconds', retryAfterMs: expect.any(Number) },
    });
    expect(await build('quiet', 'q1', notesWorld())).toMatchObject({ ok: true });
  });
});

describe('clients that disconnect', () => {
  it('release their queued and running jobs, so that waiting clients are served', async () => {
    const { build, ended } = start({ processes: 1 });
    const gone = new AbortController();
    const slow = slowWorld();
    const left = [build('busy', 's1', slow, gone.signal), build('busy', 's2', slow, gone.signal)];
    gone.abort();
    expect(await build('quiet', 'q1', notesWorld())).toMatchObject({ ok: true });
    await Promise.allSettled(left);
    expect(ended.toSorted()).toEqual(['q1', 's1 refused', 's2 refused']);
  });
});

describe('a check of a request', () => {
  it('does not wait for trees, whatever project sent them', async () => {
    const { build, ended } = start();
    const small = await build('a', 'small', notesWorld());
    const bundle = 'bundle' in small ? small.bundle : new Uint8Array();
    const slow = slowWorld();
    const attack = ['a', 'b', 'c'].map((project) => build(project, `tree of ${project}`, slow));
    const built = await compiler.run(
      { kind: 'check-task', world: { digest: 'sha256:0', project: 'a' }, specJson: '{}' },
      { project: 'a', supply: async () => bundle },
    );
    expect(built).toMatchObject({ ok: true, hash: expect.stringMatching(/^sha256:/) });
    expect(ended).toEqual(['small']);
    void Promise.allSettled(attack);
  });
});

describe('a burst of opens with inline tasks', () => {
  const checker = async () => {
    const { build, jobs } = start({ secondsPerMinute: 1_000 });
    const small = await build('a', 'small', notesWorld());
    const bundle = 'bundle' in small ? small.bundle : new Uint8Array();
    const check = (spec: object) =>
      compiler.run(
        {
          kind: 'check-task',
          world: { digest: 'sha256:0', project: 'a' },
          specJson: JSON.stringify(spec),
        },
        { project: 'a', supply: async () => bundle },
      );
    const checks = () => jobs.filter((kind) => kind === 'check-task').length;
    return { check, checks };
  };
  const burst = Array.from({ length: 64 }, (_, index) => index);

  it('uses one job for all opens with the same task, and no further job when the burst is repeated', async () => {
    const { check, checks } = await checker();
    for (let again = 0; again < 2; again += 1) {
      const verdicts = await Promise.all(burst.map(() => check({ instruction: 'the same' })));
      expect(verdicts.every(({ ok }) => ok)).toBe(true);
    }
    expect(checks()).toBe(1);
  });

  it('is checked in full when each open has a task of its own', async () => {
    const { check, checks } = await checker();
    const verdicts = await Promise.all(burst.map((n) => check({ instruction: `task ${n}` })));
    expect(verdicts.every(({ ok }) => ok)).toBe(true);
    expect(checks()).toBe(64);
  });
});
