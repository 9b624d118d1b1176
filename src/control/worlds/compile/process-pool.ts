/**
 * Process pool with a queue that projects share fairly. A process is started when it is needed, and used again. A
 * process that ended is replaced when the next job needs one. No project may occupy all processes, so that a process is
 * always free, or soon free, for other projects.
 */
import { AppError } from '#domain/error.ts';
import { createFairQueue, type FairQueue } from '../../base/fairness/fair-queue.ts';
import type { Job, JobKind, Outcomes } from './job.ts';
import {
  compileProgram,
  type JobEnd,
  type JobProcess,
  type JobProgram,
  type ProcessLimits,
  type StartCompileProcess,
  type Supply,
  startCompileProcess,
  startJobProcess,
} from './process.ts';

/** Project for which a job runs, and the callbacks of the job. */
export type JobContext<AJob = Job, Supplied = Uint8Array> = {
  /** Key of the job in the fair queue; all jobs of a project have the same key. */
  project: string;
  /** Aborts when no client waits for the outcome any more; absent if the job must run in any case. */
  signal?: AbortSignal | undefined;
  /** Returns the data that the job needs if the process does not have it. */
  supply?: Supply<Supplied>;
  /**
   * Returns the complete job, including the parts that take much memory. Called when the job's turn has come; if the
   * function throws, the job fails with that error.
   */
  complete?: () => Promise<AJob>;
};

export type PoolLimits = ProcessLimits & {
  /** Maximum number of jobs that run at the same time, each in its own process. */
  processes: number;
  /** Maximum number of jobs, of all projects together, that wait for a process. */
  queued: number;
  /**
   * Time for which an abandoned job continues while no other job needs its process, in milliseconds; if undefined, the
   * job runs to its end. The time should not be 0, because a client that connects and disconnects again and again would
   * then start a process each time.
   */
  leftMs?: number | undefined;
};

/** Job that has ended, for metrics and budgets. */
export type EndedJob<Kind extends string = JobKind> = {
  kind: Kind;
  project: string;
  outcome: JobEnd['kind'] | 'failed';
  seconds: number;
  /** Processor time in seconds; the elapsed time if the process did not report its processor time. */
  cpuSeconds: number;
};

export type ProcessPool<AJob = Job, Outcome = Outcomes[JobKind], Supplied = Uint8Array> = {
  /** Runs a job when its turn has come. Throws `exhausted` and `unavailable` in the cases of `Compiler.run`. */
  run(job: AJob, context: JobContext<AJob, Supplied>): Promise<JobEnd<Outcome>>;
  /** Starts a process in advance if none is running. */
  warm(): void;
  stop(): Promise<void>;
  load(): { running: number; queued: number };
};

type Waiting<AJob, Outcome, Supplied> = {
  job: AJob;
  context: JobContext<AJob, Supplied>;
  done: PromiseWithResolvers<JobEnd<Outcome>>;
  process?: JobProcess<AJob, Outcome, Supplied> | undefined;
  isLeft: boolean;
};

type Words = JobProgram<never, never>['words'];

const givenUp = ({ undone }: Words, why: string): AppError =>
  new AppError('unavailable', `${undone}: ${why}`);

const notAwaited = 'the client disconnected';
const stopping = 'the service is stopping';

/** Delay after which a place in the queue may have become free, in milliseconds. */
const retryAfterMs = 2_000;

const tooMany = ({ waits, quota }: Words, waiting: number): AppError =>
  new AppError(
    'exhausted',
    `${waiting} jobs of your project already wait ${waits}, the maximum: wait for one to finish, then try again`,
    {
      detail: { quota, retryAfterMs },
    },
  );

const displaced = ({ quota }: Words): AppError => {
  const queue = quota.replace('_', ' ');
  const message = `the ${queue} is full, and your project has most of the jobs in it: wait for some to finish, then try again`;
  return new AppError('exhausted', message, { detail: { quota, retryAfterMs } });
};

/** Kills the process of an abandoned job after a delay, unless the job ends before. */
const endAfter = <AJob, Outcome, Supplied>(
  entry: Waiting<AJob, Outcome, Supplied>,
  ms: number,
): void => {
  const timer = setTimeout(() => {
    if (entry.process?.isAlive()) void entry.process.kill();
  }, ms);
  entry.done.promise.finally(() => clearTimeout(timer)).catch(() => undefined);
};

/** Processes of a pool. Idle processes are used again, and there are never more processes than concurrent jobs. */
class Processes<AJob, Outcome, Supplied> {
  readonly #start: () => JobProcess<AJob, Outcome, Supplied>;
  readonly #all = new Set<JobProcess<AJob, Outcome, Supplied>>();
  readonly #idle: JobProcess<AJob, Outcome, Supplied>[] = [];

  constructor(start: () => JobProcess<AJob, Outcome, Supplied>) {
    this.#start = start;
  }

  /** Returns an idle process, or a new one. */
  take(): JobProcess<AJob, Outcome, Supplied> {
    const found = this.#idle.pop();
    if (found?.isAlive()) return found;
    if (found !== undefined) this.#all.delete(found);
    const started = this.#start();
    this.#all.add(started);
    return started;
  }

  /** Starts an idle process if no process is running. */
  warm(): void {
    if (this.#all.size > 0) return;
    const started = this.#start();
    this.#all.add(started);
    this.#idle.push(started);
  }

  giveBack(process: JobProcess<AJob, Outcome, Supplied>): void {
    if (process.isAlive()) this.#idle.push(process);
    else this.#all.delete(process);
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#all].map((process) => process.kill()));
  }
}

/** Pool of processes, with the fair queue of jobs that wait for a process. */
class JobPool<Kind extends string, AJob extends { kind: Kind }, Outcome, Supplied>
  implements ProcessPool<AJob, Outcome, Supplied>
{
  readonly #words: Words;
  readonly #limits: PoolLimits;
  readonly #onEnd: (job: EndedJob<Kind>) => void;
  readonly #processes: Processes<AJob, Outcome, Supplied>;
  readonly #queue: FairQueue<Waiting<AJob, Outcome, Supplied>>;
  readonly #running = new Set<Waiting<AJob, Outcome, Supplied>>();
  #isStopped = false;

  constructor(
    words: Words,
    limits: PoolLimits,
    onEnd: (job: EndedJob<Kind>) => void,
    start: () => JobProcess<AJob, Outcome, Supplied>,
  ) {
    this.#words = words;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#processes = new Processes(start);
    this.#queue = createFairQueue({
      queued: limits.queued,
      queuedOfProject: Math.ceil(limits.queued / 2),
      runningOfProject: Math.max(1, limits.processes - 1),
    });
  }

  async run(job: AJob, context: JobContext<AJob, Supplied>): Promise<JobEnd<Outcome>> {
    if (this.#isStopped) throw givenUp(this.#words, stopping);
    if (context.signal?.aborted === true) throw givenUp(this.#words, notAwaited);
    const done = Promise.withResolvers<JobEnd<Outcome>>();
    const entry: Waiting<AJob, Outcome, Supplied> = { job, context, done, isLeft: false };
    this.#beginOrWait(entry);
    const left = (): void => this.#leave(entry);
    context.signal?.addEventListener('abort', left, { once: true });
    try {
      return await entry.done.promise;
    } finally {
      context.signal?.removeEventListener('abort', left);
    }
  }

  warm(): void {
    if (!this.#isStopped) this.#processes.warm();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const entry of this.#queue.clear()) {
      entry.done.reject(givenUp(this.#words, stopping));
    }
    await this.#processes.killAll();
  }

  load(): { running: number; queued: number } {
    return { running: this.#running.size, queued: this.#queue.size() };
  }

  #beginOrWait(entry: Waiting<AJob, Outcome, Supplied>): void {
    const { project } = entry.context;
    if (this.#running.size < this.#limits.processes && this.#queue.begin(project)) {
      this.#begin(entry);
      return;
    }
    const added = this.#queue.add(project, entry);
    if (added.kind === 'full') throw tooMany(this.#words, this.#queue.size(project));
    if (added.kind === 'displaced') added.entry.done.reject(displaced(this.#words));
    this.#endLeft();
  }

  #begin(entry: Waiting<AJob, Outcome, Supplied>): void {
    this.#running.add(entry);
    void this.#work(entry);
  }

  /** Runs a job in a process, settles the promise of the job, reports the end of the job, and starts the next jobs. */
  async #work(entry: Waiting<AJob, Outcome, Supplied>): Promise<void> {
    const { job, context, done } = entry;
    const beganAt = performance.now();
    const seconds = (): number => (performance.now() - beganAt) / 1_000;
    let ended: Pick<EndedJob, 'outcome' | 'cpuSeconds'> | undefined;
    try {
      const whole = context.complete === undefined ? job : await context.complete();
      if (entry.isLeft) throw givenUp(this.#words, notAwaited);
      entry.process = this.#processes.take();
      const end = await entry.process.run(whole, context.supply);
      const cpuSeconds = end.kind === 'done' ? end.cpuMs / 1_000 : seconds();
      ended = { outcome: end.kind, cpuSeconds };
      done.resolve(end);
    } catch (error) {
      done.reject(error);
    }
    const { project } = context;
    const { outcome, cpuSeconds } = ended ?? { outcome: 'failed', cpuSeconds: seconds() };
    this.#onEnd({ kind: job.kind, project, outcome, seconds: seconds(), cpuSeconds });
    if (entry.process !== undefined) this.#processes.giveBack(entry.process);
    this.#running.delete(entry);
    this.#queue.end(project);
    this.#startNext();
  }

  #startNext(): void {
    while (this.#running.size < this.#limits.processes) {
      const entry = this.#queue.next();
      if (entry === undefined) break;
      this.#begin(entry);
    }
    this.#endLeft();
  }

  /** Abandons a job whose client has disconnected: a waiting job at once, a running job after a grace period. */
  #leave(entry: Waiting<AJob, Outcome, Supplied>): void {
    entry.isLeft = true;
    if (this.#queue.remove(entry.context.project, entry)) {
      entry.done.reject(givenUp(this.#words, notAwaited));
      return;
    }
    this.#endLeft();
    if (this.#limits.leftMs !== undefined) endAfter(entry, this.#limits.leftMs);
  }

  /** Ends an abandoned job if another job waits for the process. */
  #endLeft(): void {
    if (this.#queue.size() === 0) return;
    const left = [...this.#running].find((entry) => entry.isLeft && entry.process?.isAlive());
    void left?.process?.kill();
  }
}

/** Creates a pool of processes. `start` starts one process; none runs before the first job. */
export const createJobPool = <Kind extends string, AJob extends { kind: Kind }, Outcome, Supplied>(
  program: JobProgram<AJob, Supplied>,
  limits: PoolLimits,
  onEnd: (job: EndedJob<Kind>) => void,
  start = (): JobProcess<AJob, Outcome, Supplied> => startJobProcess(program, limits),
): ProcessPool<AJob, Outcome, Supplied> =>
  new JobPool<Kind, AJob, Outcome, Supplied>(program.words, limits, onEnd, start);

/** Creates a pool of compile processes. */
export const createProcessPool = (
  limits: PoolLimits,
  onEnd: (job: EndedJob) => void,
  start: StartCompileProcess = startCompileProcess,
): ProcessPool => createJobPool(compileProgram, limits, onEnd, () => start(limits));
