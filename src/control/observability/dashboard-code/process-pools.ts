/**
 * Process pools that build and run the code of dashboards, apart from the event loop that all requests share. Builds
 * and transforms have separate pools, because the bundler may read files and transforms are assumed to be hostile. Each
 * pool serves projects in turn.
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
  // Very deeply nested code overflows the bundler's stack.
  overflows: ['SIGSEGV', 'SIGBUS'],
  complete: () => undefined,
};

/**
 * Flags of a transform process: it may read the program's own files and nothing else, cannot spawn processes, and
 * cannot load native code.
 */
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
 * Wall-clock limit of a job, in milliseconds. It ends code that does not check its CPU time: the bundler, and some
 * loops inside the engine. It is several times the CPU-time limit, because CPU time passes more slowly on a busy
 * machine.
 */
const timeLimitMs = 6 * most.processorMs;
const common = { processes: 2, queued: 64, timeLimitMs, leftMs: 2_000 };

export type DashboardJobKind = (BuildJob | TransformJob)['kind'];

/** Project that a job belongs to, and the signal that ends the wait for the job. */
export type DashboardCaller = { project: string; signal?: AbortSignal | undefined };

export type DashboardProcesses = {
  /** Builds code, or returns all its problems. Throws `exhausted` if too many jobs of the project are queued. */
  build(code: DashboardCode, caller: DashboardCaller): Promise<BuildOutcome>;
  /**
   * Runs a transform and returns its output or its error. Throws `exhausted` if too many jobs of the project are
   * queued.
   */
  transform(job: Omit<TransformJob, 'kind'>, caller: DashboardCaller): Promise<TransformOutcome>;
  load(): { running: number; queued: number };
  stop(): Promise<void>;
};

/** Creates the pools; no process starts before the first job. */
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
    // The engine limits its own memory; this covers the process around it.
    { ...common, memoryMb: 128 },
    onEnd,
  );
  return {
    async build(code, caller) {
      const end = await building.run({ kind: 'dashboard_build', code }, caller);
      if (end.kind === 'done') return end.outcome;
      const what =
        end.kind === 'out_of_time'
          ? 'takes too long to build'
          : 'takes too much memory to build, or nests too deep';
      const message = `the code ${what}: make it simpler`;
      return { ok: false, problems: [problemOf(null, 'limit', message)] };
    },
    async transform(job, caller) {
      const end = await running.run({ kind: 'dashboard_transform', ...job }, caller);
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
