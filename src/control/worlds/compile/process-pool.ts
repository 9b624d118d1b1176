/**
 * Process pool with a queue that projects share fairly. A process is started when it is needed and reused; one that
 * ended is replaced by the next job. No project may occupy all processes, so that one of them is always free, or soon
 * free, for other projects.
 */
import { AppError } from '#domain/error.ts';
import { createFairQueue } from '../../base/fairness/fair-queue.ts';
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

/** Project on whose behalf a job is run, with the callbacks of the job. */
export type Asker<AJob = Job, Supplied = Uint8Array> = {
  /** Key in the fair queue; jobs of one project share a place. */
  project: string;
  /** Aborts when no client waits for the outcome any more. */
  signal?: AbortSignal | undefined;
  /** Returns what the job needs and its process lacks. */
  supply?: Supply<Supplied>;
  /**
   * Returns the complete job, with the parts that take memory, when its turn has come; an error that it throws fails
   * the job.
   */
  complete?: () => Promise<AJob>;
};

export type PoolLimits = ProcessLimits & {
  /** Jobs run at once, each in a process of its own. */
  processes: number;
  /** Jobs of all projects that may wait for a process. */
  queued: number;
  /**
   * Time for which an abandoned job continues while no other job needs its process; until its end if it is not given.
   * It is not 0, because a client that connects and disconnects again and again would then start a process each time.
   */
  leftMs?: number | undefined;
};

/** Job that has ended, for metrics and budgets. */
export type EndedJob<Kind extends string = JobKind> = {
  kind: Kind;
  project: string;
  outcome: JobEnd['kind'] | 'failed';
  seconds: number;
  /** Processor time; the elapsed time if the process did not report it. */
  cpuSeconds: number;
};

export type ProcessPool<AJob = Job, Outcome = Outcomes[JobKind], Supplied = Uint8Array> = {
  /** Runs a job when its turn has come; throws `exhausted` and `unavailable` as `Compiler.run` does. */
  run(job: AJob, asker: Asker<AJob, Supplied>): Promise<JobEnd<Outcome>>;
  /** Starts a process in advance, if there is none. */
  warm(): void;
  stop(): Promise<void>;
  load(): { running: number; queued: number };
};

type Waiting<AJob, Outcome, Supplied> = {
  job: AJob;
  asker: Asker<AJob, Supplied>;
  done: PromiseWithResolvers<JobEnd<Outcome>>;
  process?: JobProcess<AJob, Outcome, Supplied> | undefined;
  isLeft: boolean;
};

type Words = JobProgram<never, never>['words'];

const givenUp = ({ undone }: Words, why: string): AppError =>
  new AppError('unavailable', `${undone}: ${why}`);

const notAwaited = 'the client did not wait for it';

/** Delay after which a place may have become free, in milliseconds. */
const retryAfterMs = 2_000;

const tooMany = ({ waits, quota }: Words, waiting: number): AppError =>
  new AppError('exhausted', `${waiting} jobs of your project wait already ${waits}`, {
    detail: { quota, retryAfterMs },
  });

const displaced = ({ quota }: Words): AppError => {
  const queue = quota.replace('_', ' ');
  const message = `the ${queue} is full, and most of what waits is your project's`;
  return new AppError('exhausted', message, { detail: { quota, retryAfterMs } });
};

/** Creates the set of processes: idle ones are reused, and there are never more than concurrent jobs. */
const createProcesses = <AJob, Outcome, Supplied>(
  start: () => JobProcess<AJob, Outcome, Supplied>,
) => {
  type Process = JobProcess<AJob, Outcome, Supplied>;
  const all = new Set<Process>();
  const idle: Process[] = [];
  return {
    take(): Process {
      const found = idle.pop();
      if (found?.isAlive()) return found;
      if (found !== undefined) all.delete(found);
      const started = start();
      all.add(started);
      return started;
    },
    warm(): void {
      if (all.size > 0) return;
      const started = start();
      all.add(started);
      idle.push(started);
    },
    giveBack(process: Process): void {
      if (process.isAlive()) idle.push(process);
      else all.delete(process);
    },
    async killAll(): Promise<void> {
      await Promise.all([...all].map((process) => process.kill()));
    },
  };
};

/** Creates a pool of processes of a program; `start` starts one, and none runs before the first job. */
export const createJobPool = <Kind extends string, AJob extends { kind: Kind }, Outcome, Supplied>(
  program: JobProgram<AJob, Supplied>,
  limits: PoolLimits,
  onEnd: (job: EndedJob<Kind>) => void,
  start = (): JobProcess<AJob, Outcome, Supplied> => startJobProcess(program, limits),
): ProcessPool<AJob, Outcome, Supplied> => {
  type Entry = Waiting<AJob, Outcome, Supplied>;
  const { words } = program;
  const processes = createProcesses(start);
  const queue = createFairQueue<Entry>({
    queued: limits.queued,
    queuedOfProject: Math.ceil(limits.queued / 2),
    runningOfProject: Math.max(1, limits.processes - 1),
  });
  const running = new Set<Entry>();
  let isStopped = false;

  const work = async (entry: Entry): Promise<void> => {
    const { job, asker, done } = entry;
    const beganAt = performance.now();
    const seconds = (): number => (performance.now() - beganAt) / 1_000;
    let ended: Pick<EndedJob, 'outcome' | 'cpuSeconds'> | undefined;
    try {
      const whole = asker.complete === undefined ? job : await asker.complete();
      if (entry.isLeft) throw givenUp(words, notAwaited);
      entry.process = processes.take();
      const end = await entry.process.run(whole, asker.supply);
      const cpuSeconds = end.kind === 'done' ? end.cpuMs / 1_000 : seconds();
      ended = { outcome: end.kind, cpuSeconds };
      done.resolve(end);
    } catch (error) {
      done.reject(error);
    }
    const { project } = asker;
    const { outcome, cpuSeconds } = ended ?? { outcome: 'failed', cpuSeconds: seconds() };
    onEnd({ kind: job.kind, project, outcome, seconds: seconds(), cpuSeconds });
    if (entry.process !== undefined) processes.giveBack(entry.process);
    running.delete(entry);
    queue.end(project);
    startNext();
  };

  const startNext = (): void => {
    while (running.size < limits.processes) {
      const entry = queue.next();
      if (entry === undefined) break;
      begin(entry);
    }
    endLeft();
  };

  /** Ends an abandoned job if another job waits for its process. */
  const endLeft = (): void => {
    if (queue.size() === 0) return;
    const left = [...running].find((entry) => entry.isLeft && entry.process?.isAlive());
    void left?.process?.kill();
  };

  const leave = (entry: Entry): void => {
    entry.isLeft = true;
    if (queue.remove(entry.asker.project, entry)) {
      entry.done.reject(givenUp(words, notAwaited));
      return;
    }
    endLeft();
    if (limits.leftMs !== undefined) endSoon(entry, limits.leftMs);
  };

  const endSoon = (entry: Entry, ms: number): void => {
    const timer = setTimeout(() => {
      if (entry.process?.isAlive()) void entry.process.kill();
    }, ms);
    entry.done.promise.finally(() => clearTimeout(timer)).catch(() => undefined);
  };

  const begin = (entry: Entry): void => {
    running.add(entry);
    void work(entry);
  };

  const beginOrWait = (entry: Entry): void => {
    const { project } = entry.asker;
    if (running.size < limits.processes && queue.begin(project)) {
      begin(entry);
      return;
    }
    const added = queue.add(project, entry);
    if (added.kind === 'full') throw tooMany(words, queue.size(project));
    if (added.kind === 'displaced') added.entry.done.reject(displaced(words));
    endLeft();
  };

  return {
    async run(job, asker) {
      if (isStopped) throw givenUp(words, 'the service is stopping');
      if (asker.signal?.aborted === true) throw givenUp(words, notAwaited);
      const done = Promise.withResolvers<JobEnd<Outcome>>();
      const entry: Entry = { job, asker, done, isLeft: false };
      beginOrWait(entry);
      const left = (): void => leave(entry);
      asker.signal?.addEventListener('abort', left, { once: true });
      try {
        return await entry.done.promise;
      } finally {
        asker.signal?.removeEventListener('abort', left);
      }
    },
    warm() {
      if (!isStopped) processes.warm();
    },
    async stop() {
      isStopped = true;
      for (const entry of queue.clear())
        entry.done.reject(givenUp(words, 'the service is stopping'));
      await processes.killAll();
    },
    load: () => ({ running: running.size, queued: queue.size() }),
  };
};

/** Creates a pool of compile processes. */
export const createProcessPool = (
  limits: PoolLimits,
  onEnd: (job: EndedJob) => void,
  start: StartCompileProcess = startCompileProcess,
): ProcessPool => createJobPool(compileProgram, limits, onEnd, () => start(limits));
