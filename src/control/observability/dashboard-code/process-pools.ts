/**
 * The code of dashboards, built and run in processes apart from the loop that all requests share. Building and running
 * have processes of their own: what runs is hostile by assumption, and the bundler reads files. Projects take turns.
 */
import { fileURLToPath } from 'node:url';
import { type DashboardCode, dashboardLimits as most } from '#domain/dashboard.ts';
import type { JobProgram } from '../../worlds/compile/process.ts';
import { createJobPool, type EndedJob } from '../../worlds/compile/process-pool.ts';
import type { BuildJob, BuildOutcome } from './build.ts';
import { problemOf } from './check.ts';
import type { TransformJob, TransformOutcome } from './transform.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const buildProgram: JobProgram<BuildJob, never> = {
  file: fileOf('./build-worker.ts'),
  called: 'a process that builds dashboards',
  words: { undone: 'the code was not built', waits: 'to be built', quota: 'dashboard_queue' },
  // Code that nests very deep ends the bundler by its stack.
  overflows: ['SIGSEGV', 'SIGBUS'],
  complete: () => undefined,
};

/** It reads the program's own files and nothing else of the machine, starts nothing, and loads no native code. */
const transformFlags = ['--permission', `--allow-fs-read=${fileOf('../../../../')}`];

const transformProgram: JobProgram<TransformJob, never> = {
  file: fileOf('./transform-worker.ts'),
  called: 'a process that runs transforms',
  words: { undone: 'the transform was not run', waits: 'to be run', quota: 'dashboard_queue' },
  flags: transformFlags,
  overflows: ['SIGSEGV', 'SIGBUS'],
  complete: () => undefined,
};

/**
 * By the clock, for what does not look at its processor time: some loops of the engine's own code, and the bundler. On a
 * busy machine the time of a processor takes several times as long.
 */
const timeLimitMs = 6 * most.processorMs;
const common = { processes: 2, queued: 64, timeLimitMs, leftMs: 2_000 };

export type DashboardJobKind = (BuildJob | TransformJob)['kind'];

/** On whose behalf, and until when somebody waits. */
export type DashboardAsker = { project: string; signal?: AbortSignal | undefined };

export type DashboardProcesses = {
  /** Builds code, or tells all that is wrong with it. Throws `exhausted` when too many jobs of the project wait. */
  build(code: DashboardCode, asker: DashboardAsker): Promise<BuildOutcome>;
  /** Runs a transform; what goes wrong in it is an answer. Throws `exhausted` likewise. */
  transform(job: Omit<TransformJob, 'kind'>, asker: DashboardAsker): Promise<TransformOutcome>;
  load(): { running: number; queued: number };
  stop(): Promise<void>;
};

/** Makes the processes; none runs before the first job. */
export const createDashboardProcesses = (
  onEnd: (job: EndedJob<DashboardJobKind>) => void,
): DashboardProcesses => {
  const building = createJobPool<'dashboard_build', BuildJob, BuildOutcome, never>(
    buildProgram,
    { ...common, memoryMb: most.memoryMb },
    onEnd,
  );
  const running = createJobPool<'dashboard_transform', TransformJob, TransformOutcome, never>(
    transformProgram,
    // The engine has its own memory, which is bounded there.
    { ...common, memoryMb: 128 },
    onEnd,
  );
  return {
    async build(code, asker) {
      const end = await building.run({ kind: 'dashboard_build', code }, asker);
      if (end.kind === 'done') return end.outcome;
      const what =
        end.kind === 'out_of_time'
          ? 'takes too long to build'
          : 'takes too much memory to build, or nests too deep';
      const message = `the code ${what}: make it simpler`;
      return { ok: false, problems: [problemOf(null, 'limit', message)] };
    },
    async transform(job, asker) {
      const end = await running.run({ kind: 'dashboard_transform', ...job }, asker);
      if (end.kind === 'done') return end.outcome;
      const error =
        end.kind === 'out_of_time'
          ? `took more than ${most.processorMs / 1_000} s of a processor`
          : `took more than ${most.memoryMb} MiB of memory`;
      return { ok: false, error };
    },
    load: () => ({
      running: building.load().running + running.load().running,
      queued: building.load().queued + running.load().queued,
    }),
    async stop() {
      await Promise.all([building.stop(), running.stop()]);
    },
  };
};
