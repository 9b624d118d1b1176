/**
 * Evaluates user input in separate processes, off the event loop of requests. Trees and checks have a process pool
 * each, so that a short check never waits for a tree. Within a pool, projects share the processes by a fair queue. The
 * processor time of a project in a minute is limited, separately for each pool.
 */

import { AppError } from '#domain/error.ts';
import type { Problem } from '#language/problem.ts';
import type { CompileLimits } from '../../config.ts';
import { createCompileBudget } from './cpu-budget.ts';
import type { Job, JobKind, Outcomes } from './job.ts';
import { type JobEnd, type StartCompileProcess, startCompileProcess } from './process.ts';
import { createProcessPool, type EndedJob, type JobContext } from './process-pool.ts';
import { createTaskChecks } from './task-checks.ts';

export type Compiler = {
  /**
   * Runs a job (see `job.ts`) on behalf of a project. A job that is ended because it reached a limit also has an
   * outcome: one problem without a file, `out_of_time` or `out_of_memory`. Throws what the job throws. Throws
   * `exhausted` if too many jobs of the project wait or the project has used up its processor time. Throws
   * `unavailable` if the signal aborts while the job waits, or if this program stops.
   */
  run<Kind extends JobKind>(job: Job<Kind>, context: JobContext): Promise<Outcomes[Kind]>;
  /** Ends the processes and rejects the waiting jobs. Resolves when the processes have ended. */
  stop(): Promise<void>;
  /** Returns the number of running jobs, and the number of jobs that wait for a process. */
  load(): { running: number; queued: number };
};

type Outcome = Outcomes[JobKind];

/** Kinds of jobs that are short: they need a compiled world, or only a few values. */
const shortKinds: ReadonlySet<JobKind> = new Set<JobKind>([
  'check-task',
  'redact-seed',
  'describe-entities',
  'pack-rows',
  'check-items',
  'judge-patterns',
]);

/** Limits of short jobs. Their queue is long, because sessions are opened in bursts. */
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
    hint: 'reduce the rows of the tree, or simplify its schemas',
  };
  return { ok: false, problems: [problem] };
};

const spent = (secondsPerMinute: number, retryAfterMs: number): AppError => {
  const message = `your project has spent its ${secondsPerMinute} s of compile time for a minute; try again in ${Math.ceil(retryAfterMs / 1_000)} s`;
  return new AppError('exhausted', message, { detail: { quota: 'compile_seconds', retryAfterMs } });
};

/** Callbacks for jobs that ended and for refused jobs. The latter gets the name of the quota that is used up. */
export type CompileWatch = {
  ended(job: EndedJob): void;
  refused(quota: string): void;
};

const noWatch: CompileWatch = { ended: () => undefined, refused: () => undefined };

/** Creates the compiler. No process runs before the first job. */
export const createCompiler = (
  limits: CompileLimits,
  watch: CompileWatch = noWatch,
  start: StartCompileProcess = startCompileProcess,
): Compiler => {
  // Separate budgets: a project that compiles much can still open sessions, and vice versa.
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

  const checkTask = createTaskChecks(async (job, context) => {
    refuseSpent(job.kind, context.project);
    return outcomeOf(await checks.run(job, context), shortLimits);
  });

  const work = async (job: Job, context: JobContext): Promise<Outcome> => {
    if (job.kind === 'check-task') return checkTask(job, context);
    refuseSpent(job.kind, context.project);
    if (shortKinds.has(job.kind)) return outcomeOf(await checks.run(job, context), shortLimits);
    // A client that creates a world usually opens sessions of it next, so a process for checks is started now.
    if (job.kind === 'build') checks.warm();
    return outcomeOf(await trees.run(job, context), limits);
  };

  const submit = async (job: Job, context: JobContext): Promise<Outcome> => {
    try {
      return await work(job, context);
    } catch (error) {
      const { quota } = error instanceof AppError ? error.detail : {};
      if (typeof quota === 'string') watch.refused(quota);
      throw error;
    }
  };

  return {
    // The outcome is always of the job's kind, which the types of the process pool do not express.
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
