/**
 * Evaluates what strangers wrote off the request thread. Trees and checks have a lane each, so that a
 * check, which is short, never waits for a tree; within a lane projects take turns. What a project may
 * spend of a processor in a minute is bounded, too, for each lane.
 */

import { AppError } from '#domain/error.ts';
import type { Problem } from '#language/problem.ts';
import type { CompileLimits } from '../../config.ts';
import { createCompileBudget } from './cpu-budget.ts';
import type { Job, JobKind, Outcomes } from './job.ts';
import { type JobEnd, type StartCompileProcess, startCompileProcess } from './process.ts';
import { type Asker, createProcessPool, type EndedJob } from './process-pool.ts';
import { createTaskChecks } from './task-checks.ts';

export type Compiler = {
  /**
   * Does a job, see `job.ts`, on behalf of a project. One that is ended by a limit has an outcome,
   * too: one problem, `out_of_time` or `out_of_memory`, of no file. Throws what the job throws,
   * `exhausted` when too many jobs of the project wait or it has spent its time, and `unavailable` when
   * it is given up: because its signal aborts while it waits, or because the program stops.
   */
  run<Kind extends JobKind>(job: Job<Kind>, asker: Asker): Promise<Outcomes[Kind]>;
  /** Ends the processes and gives up what waits; resolves when they are gone. */
  stop(): Promise<void>;
  /** Jobs that run, and those that wait for a process. */
  load(): { running: number; queued: number };
};

type Outcome = Outcomes[JobKind];

/** Kinds that are short: they look at a world that is compiled, or at few values. */
const shortKinds: ReadonlySet<JobKind> = new Set<JobKind>([
  'check-task',
  'redact-seed',
  'describe-entities',
  'pack-rows',
  'check-items',
  'judge-patterns',
]);

/** What a short one may take at most, processes that do them, and how many may wait: a burst of opens. */
const shortLimitMs = 5_000;
const shortMemoryMb = 256;
const shortProcesses = 2;
const shortQueued = 1_024;

const limitMessage = (
  limit: Exclude<JobEnd['kind'], 'done'>,
  { timeLimitMs, memoryMb }: Pick<CompileLimits, 'timeLimitMs' | 'memoryMb'>,
): string =>
  limit === 'out_of_time'
    ? `compiling the world took longer than ${timeLimitMs / 1000} s`
    : `compiling the world took more than ${memoryMb} MiB of memory`;

const outcomeOf = (
  end: JobEnd,
  limits: Pick<CompileLimits, 'timeLimitMs' | 'memoryMb'>,
): Outcome => {
  if (end.kind === 'done') return end.outcome;
  const problem: Problem = {
    file: '',
    pointer: '',
    code: end.kind,
    message: limitMessage(end.kind, limits),
    hint: 'give the tree fewer rows, or simpler schemas',
  };
  return { ok: false, problems: [problem] };
};

const spent = (secondsPerMinute: number, retryAfterMs: number): AppError => {
  const message = `your project has spent its ${secondsPerMinute} s of compile time for a minute; try again in ${Math.ceil(retryAfterMs / 1_000)} s`;
  return new AppError('exhausted', message, { detail: { quota: 'compile_seconds', retryAfterMs } });
};

/** Hears of jobs that ended, and of jobs that were refused, by the quota that was used up. */
export type CompileWatch = {
  ended(job: EndedJob): void;
  refused(quota: string): void;
};

const nobody: CompileWatch = { ended: () => undefined, refused: () => undefined };

/** Makes the compiler; no process runs before the first job. */
export const createCompiler = (
  limits: CompileLimits,
  watch: CompileWatch = nobody,
  start: StartCompileProcess = startCompileProcess,
): Compiler => {
  // Each has its own: who compiles much can still open sessions, and the other way round.
  const budgets = {
    trees: createCompileBudget(limits.secondsPerMinute),
    checks: createCompileBudget(limits.secondsPerMinute),
  };
  const budgetOf = (kind: JobKind) => (shortKinds.has(kind) ? budgets.checks : budgets.trees);
  const noteEnd = (job: EndedJob): void => {
    budgetOf(job.kind).spend(job.project, job.cpuSeconds);
    watch.ended(job);
  };
  const shortLimits: CompileLimits = {
    ...limits,
    processes: shortProcesses,
    queued: shortQueued,
    timeLimitMs: Math.min(limits.timeLimitMs, shortLimitMs),
    memoryMb: Math.min(limits.memoryMb, shortMemoryMb),
  };
  const trees = createProcessPool(limits, noteEnd, start);
  const checks = createProcessPool(shortLimits, noteEnd, start);

  const refuseSpent = (kind: JobKind, project: string): void => {
    const waitMs = budgetOf(kind).waitMs(project);
    if (waitMs > 0) throw spent(limits.secondsPerMinute, waitMs);
  };

  const checkTask = createTaskChecks(async (job, asker) => {
    refuseSpent(job.kind, asker.project);
    return outcomeOf(await checks.run(job, asker), shortLimits);
  });

  const work = async (job: Job, asker: Asker): Promise<Outcome> => {
    if (job.kind === 'check-task') return checkTask(job, asker);
    refuseSpent(job.kind, asker.project);
    if (shortKinds.has(job.kind)) return outcomeOf(await checks.run(job, asker), shortLimits);
    // Whoever makes a world opens sessions of it next.
    if (job.kind === 'build') checks.warm();
    return outcomeOf(await trees.run(job, asker), limits);
  };

  const submit = async (job: Job, asker: Asker): Promise<Outcome> => {
    try {
      return await work(job, asker);
    } catch (error) {
      const { quota } = error instanceof AppError ? error.detail : {};
      if (typeof quota === 'string') watch.refused(quota);
      throw error;
    }
  };

  return {
    // What comes of a job is of the job's kind: the process knows no other.
    run: submit as Compiler['run'],
    async stop() {
      await Promise.all([trees.stop(), checks.stop()]);
    },
    load: () => ({
      running: trees.load().running + checks.load().running,
      queued: trees.load().queued + checks.load().queued,
    }),
  };
};
