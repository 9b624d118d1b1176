/**
 * Compiles the trees of strangers off the request thread: a few processes, each with limits on time
 * and memory, and a queue that is bounded, too. A process is started when it is needed and used again;
 * one that ended is replaced by the next job.
 */
import { AppError } from '#domain/error.ts';
import type { Problem } from '#language/problem.ts';
import type { Job, JobKind, Outcomes } from './compile-job.ts';
import { type CompileProcess, type Ending, startCompileProcess } from './compile-process.ts';

export type CompileLimits = {
  /** Jobs done at once, each by a process of its own. */
  processes: number;
  /** Jobs that may wait for one. */
  queued: number;
  /** Time that one job may take, in milliseconds; waiting does not count. */
  timeLimitMs: number;
  /** Heap of one process, in MiB. */
  memoryMb: number;
};

export type Compiler = {
  /**
   * Does a job, see `compile-job.ts`. One that is ended by a limit has an outcome, too: one problem,
   * `out_of_time` or `out_of_memory`, of no file. Throws what the job throws, `exhausted` when too many
   * jobs wait, and `unavailable` when it is given up: because its signal aborts while it waits, or
   * because the program stops.
   */
  run<Kind extends JobKind>(job: Job<Kind>, signal?: AbortSignal): Promise<Outcomes[Kind]>;
  /** Ends the processes and gives up what waits; resolves when they are gone. */
  stop(): Promise<void>;
  /** Jobs that run, and those that wait for a process. */
  load(): { running: number; queued: number };
};

/** A job that has ended, for whoever counts them. */
export type EndedJob = { kind: JobKind; outcome: Ending['kind'] | 'failed'; seconds: number };

type Outcome = Outcomes[JobKind];
type Waiting = { job: Job; done: PromiseWithResolvers<Outcome> };

const limitMessage = (
  limit: Exclude<Ending['kind'], 'done'>,
  { timeLimitMs, memoryMb }: CompileLimits,
): string =>
  limit === 'out_of_time'
    ? `compiling the world took longer than ${timeLimitMs / 1000} s`
    : `compiling the world took more than ${memoryMb} MiB of memory`;

const outcomeOf = (ending: Ending, limits: CompileLimits): Outcome => {
  if (ending.kind === 'done') return ending.outcome;
  const problem: Problem = {
    file: '',
    pointer: '',
    code: ending.kind,
    message: limitMessage(ending.kind, limits),
    hint: 'give the tree fewer rows, or simpler schemas',
  };
  return { ok: false, problems: [problem] };
};

const givenUp = (why: string): AppError =>
  new AppError('unavailable', `the world was not compiled: ${why}`);

/** The processes: those that idle are used again, and there are never more than jobs at once. */
const createProcesses = (limits: CompileLimits) => {
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
    giveBack(process: CompileProcess): void {
      if (process.isAlive()) idle.push(process);
      else all.delete(process);
    },
    async killAll(): Promise<void> {
      await Promise.all([...all].map((process) => process.kill()));
    },
  };
};

/** Makes the compiler; no process runs before the first job. */
export const createCompiler = (
  limits: CompileLimits,
  onEnd: (job: EndedJob) => void = () => {},
): Compiler => {
  const processes = createProcesses(limits);
  const queue: Waiting[] = [];
  let busy = 0;
  let isStopped = false;

  const work = async ({ job, done }: Waiting): Promise<void> => {
    let process: CompileProcess | undefined;
    let outcome: EndedJob['outcome'] = 'failed';
    const beganAt = performance.now();
    try {
      process = processes.take();
      const ending = await process.run(job);
      outcome = ending.kind;
      done.resolve(outcomeOf(ending, limits));
    } catch (error) {
      done.reject(error);
    }
    onEnd({ kind: job.kind, outcome, seconds: (performance.now() - beganAt) / 1_000 });
    if (process !== undefined) processes.giveBack(process);
    busy -= 1;
    startNext();
  };

  const startNext = (): void => {
    if (busy >= limits.processes) return;
    const next = queue.shift();
    if (next === undefined) return;
    busy += 1;
    void work(next);
  };

  const giveUp = (entry: Waiting, why: string): void => {
    const position = queue.indexOf(entry);
    if (position === -1) return;
    queue.splice(position, 1);
    entry.done.reject(givenUp(why));
  };

  const submit = async (job: Job, signal: AbortSignal | undefined): Promise<Outcome> => {
    if (isStopped) throw givenUp('the service is stopping');
    if (busy >= limits.processes && queue.length >= limits.queued) {
      throw new AppError('exhausted', `${queue.length} worlds wait already to be compiled`);
    }
    const entry = { job, done: Promise.withResolvers<Outcome>() };
    const leave = (): void => giveUp(entry, 'the client did not wait for it');
    signal?.addEventListener('abort', leave, { once: true });
    queue.push(entry);
    startNext();
    try {
      return await entry.done.promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  };

  return {
    // What comes of a job is of the job's kind: the process knows no other.
    run: submit as Compiler['run'],
    async stop() {
      isStopped = true;
      for (const entry of [...queue]) giveUp(entry, 'the service is stopping');
      await processes.killAll();
    },
    load: () => ({ running: busy, queued: queue.length }),
  };
};
