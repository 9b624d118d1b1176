/**
 * A few compile processes and the queue before them, shared fairly by projects. A process is started
 * when it is needed and used again; one that ended is replaced by the next job. No project may have all
 * processes at work, so one of them is always left, or soon free, for the others.
 */
import { AppError } from '#domain/error.ts';
import { createFairQueue } from '../shares/fair-queue.ts';
import type { Job, JobKind } from './job.ts';
import {
  type CompileProcess,
  type JobEnd,
  type ProcessLimits,
  type Supply,
  startCompileProcess,
} from './process.ts';

/** On whose behalf a job is done. */
export type Asker = {
  /** Who waits in line; those of one project share a place. */
  project: string;
  /** Aborts when nobody waits for the outcome any more. */
  signal?: AbortSignal | undefined;
  /** Brings the bundle of the world that the job is for. */
  supply?: Supply;
  /** The job with what takes memory, brought when it is the job's turn; what it throws, the job throws. */
  complete?: () => Promise<Job>;
};

export type LaneLimits = ProcessLimits & {
  /** Jobs done at once, each by a process of its own. */
  processes: number;
  /** Jobs that may wait for one, of all projects. */
  queued: number;
};

/** A job that has ended, for whoever counts them. */
export type EndedJob = {
  kind: JobKind;
  project: string;
  outcome: JobEnd['kind'] | 'failed';
  seconds: number;
  /** Of a processor; as many as went by where the process cannot tell. */
  cpuSeconds: number;
};

export type Lane = {
  /** Does a job when it is its turn; throws `exhausted` and `unavailable` as `Compiler.run` does. */
  run(job: Job, asker: Asker): Promise<JobEnd>;
  /** Starts a process ahead, if there is none. */
  warm(): void;
  stop(): Promise<void>;
  load(): { running: number; queued: number };
};

type Entry = {
  job: Job;
  asker: Asker;
  done: PromiseWithResolvers<JobEnd>;
  process?: CompileProcess | undefined;
  isLeft: boolean;
};

const givenUp = (why: string): AppError =>
  new AppError('unavailable', `the world was not compiled: ${why}`);

/** When a place may have become free. */
const retryAfterMs = 2_000;

const tooMany = (waiting: number): AppError =>
  new AppError(
    'exhausted',
    `${waiting} jobs of your project wait already to be compiled or checked`,
    {
      detail: { quota: 'compile_queue', retryAfterMs },
    },
  );

const displaced = (): AppError =>
  new AppError('exhausted', "the compile queue is full, and most of what waits is your project's", {
    detail: { quota: 'compile_queue', retryAfterMs },
  });

/** The processes: those that idle are used again, and there are never more than jobs at once. */
const createProcesses = (limits: ProcessLimits) => {
  const all = new Set<CompileProcess>();
  const idle: CompileProcess[] = [];
  return {
    take(): CompileProcess {
      const found = idle.pop();
      if (found?.isAlive()) return found;
      if (found !== undefined) all.delete(found);
      const started = startCompileProcess(limits);
      all.add(started);
      return started;
    },
    warm(): void {
      if (all.size > 0) return;
      const started = startCompileProcess(limits);
      all.add(started);
      idle.push(started);
    },
    giveBack(process: CompileProcess): void {
      if (process.isAlive()) idle.push(process);
      else all.delete(process);
    },
    async killAll(): Promise<void> {
      await Promise.all([...all].map((process) => process.kill()));
    },
  };
};

/** Makes a lane; no process runs before the first job. */
export const createLane = (limits: LaneLimits, onEnd: (job: EndedJob) => void): Lane => {
  const processes = createProcesses(limits);
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

  /** Ends a job that nobody waits for any more, if another waits for its place. */
  const endLeft = (): void => {
    if (queue.size() === 0) return;
    const left = [...running].find((entry) => entry.isLeft && entry.process?.isAlive());
    void left?.process?.kill();
  };

  const leave = (entry: Entry): void => {
    entry.isLeft = true;
    if (queue.remove(entry.asker.project, entry)) {
      entry.done.reject(givenUp('the client did not wait for it'));
    } else endLeft();
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
    if (added.kind === 'full') throw tooMany(queue.size(project));
    if (added.kind === 'displaced') added.entry.done.reject(displaced());
    endLeft();
  };

  return {
    async run(job, asker) {
      if (isStopped) throw givenUp('the service is stopping');
      if (asker.signal?.aborted === true) throw givenUp('the client did not wait for it');
      const entry: Entry = { job, asker, done: Promise.withResolvers<JobEnd>(), isLeft: false };
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
      for (const entry of queue.clear()) entry.done.reject(givenUp('the service is stopping'));
      await processes.killAll();
    },
    load: () => ({ running: running.size, queued: queue.size() }),
  };
};
