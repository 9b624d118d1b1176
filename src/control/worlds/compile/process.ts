/**
 * One process for jobs as the control plane sees it, such as one that compiles: started, given one job at a
 * time, ended when a job takes too long. What its end means for the job under way is decided here.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import type { Job, JobKind, Outcomes } from './job.ts';
import type { Message } from './serve-jobs.ts';

/** Linux counts in hundredths of a second for programs, whatever the kernel does within. */
const msPerTick = 10;
/** Places of the time in user code and in the kernel, counted after the name, which may hold spaces. */
const [userPlace, kernelPlace] = [11, 12];

/** Milliseconds since the process began; undefined when the system does not tell. */
const processorMsOf = (pid: number | undefined): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[userPlace]) + Number(fields[kernelPlace]);
    return Number.isFinite(ticks) ? ticks * msPerTick : undefined;
  } catch {
    return undefined; // it has ended, or this is no Linux
  }
};

export type ProcessLimits = {
  /** Time that one job may take, in milliseconds. */
  timeLimitMs: number;
  /** Heap of the process, in MiB. */
  memoryMb: number;
};

/** How a job ended: with its outcome and what it took, or by a limit that ended the process, too. */
export type JobEnd<Outcome = Outcomes[JobKind]> =
  | { kind: 'done'; outcome: Outcome; cpuMs: number }
  | { kind: 'out_of_time' }
  | { kind: 'out_of_memory' };

/** Brings what a job needs and the process lacks: of a compile process, the bundle of the world that it is for. */
export type Supply<Supplied = Uint8Array> = () => Promise<Supplied>;

/** A program that does jobs, see `serve-jobs.ts`. */
export type JobProgram<AJob, Supplied> = {
  /** Its file. */
  file: string;
  /** What messages call a process of it. */
  called: string;
  /** What jobs are to those who wait for them: how one that was given up is called, what it waits for, whose queue. */
  words: { undone: string; waits: string; quota: string };
  /** Flags of Node's, besides the bound of its heap. */
  flags?: readonly string[];
  /** Signals by which native code in it ends when a job is too much for it, as V8 does by its own. */
  overflows?: readonly NodeJS.Signals[];
  /** The job with what the process lacked; undefined for one that nothing is supplied to. */
  complete(job: AJob, supplied: Supplied): AJob | undefined;
};

export type JobProcess<AJob, Outcome, Supplied> = {
  /** Whether it can be given a job. */
  isAlive(): boolean;
  /**
   * Does one job; the next only after this one. Throws what the job throws, and `unavailable` when the
   * process could not start, was ended from outside, or got too little of a processor for the job to be
   * judged by its time.
   */
  run(job: AJob, supply?: Supply<Supplied>): Promise<JobEnd<Outcome>>;
  /** Ends it, whatever it does, and resolves when it is gone. */
  kill(): Promise<void>;
};

export type CompileProcess = JobProcess<Job, Outcomes[JobKind], Uint8Array>;

/** What compiles. */
export const compileProgram: JobProgram<Job, Uint8Array> = {
  file: fileURLToPath(new URL('./worker.ts', import.meta.url)),
  called: 'a compile process',
  words: {
    undone: 'the world was not compiled',
    waits: 'to be compiled or checked',
    quota: 'compile_queue',
  },
  complete: (job, bundle) => {
    if ('world' in job) return { ...job, world: { ...job.world, bundle } };
    if (job.kind !== 'pack-rows' || job.redaction === null) return undefined;
    const { redaction } = job;
    return { ...job, redaction: { ...redaction, world: { ...redaction.world, bundle } } };
  },
};

/** For the start of a process on a busy machine; a job's own time begins after it. */
const startLimitMs = 30_000;

/** A job that had less of a processor in its time was held up by others, and may be a small one: it goes on. */
const leastShare = 0.15;
/** But not for longer than so many times its time. */
const mostTimes = 3;
/** When a machine may have room again. */
const retryAfterMs = 5_000;

/** Characters kept of what it printed last. */
const keptOutput = 2_000;

/** V8 aborts when the heap is full; the kernel kills when the machine is. */
const memorySignals: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGKILL'];

const startChild = (file: string, memoryMb: number, flags: readonly string[]): ChildProcess =>
  fork(file, {
    execArgv: [`--max-old-space-size=${memoryMb}`, ...flags],
    env: codeCacheEnv(),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });

const keepOutput = (child: ChildProcess): (() => string) => {
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = `${output}${text}`.slice(-keptOutput);
  });
  return () => output.trim();
};

type End = { kind: 'ended'; signal: NodeJS.Signals | null; message: string; cause?: unknown };

const awaitEnd = (child: ChildProcess, called: string, output: () => string): Promise<End> =>
  new Promise((resolve) => {
    child.on('error', (cause) => {
      child.kill('SIGKILL');
      resolve({ kind: 'ended', signal: null, message: `${called} failed`, cause });
    });
    child.on('close', (code, signal) => {
      const message = `${called} ended with ${signal ?? code}: ${output()}`;
      resolve({ kind: 'ended', signal, message });
    });
  });

/** Starts a process. It fails, if at all, when it is given its first job. */
export const startJobProcess = <AJob extends object, Outcome, Supplied>(
  { file, called, complete, flags = [], overflows = [] }: JobProgram<AJob, Supplied>,
  { timeLimitMs, memoryMb }: ProcessLimits,
): JobProcess<AJob, Outcome, Supplied> => {
  const child = startChild(file, memoryMb, flags);
  const tooMuch = [...memorySignals, ...overflows];
  const ended = awaitEnd(child, called, keepOutput(child));
  let state: 'alive' | 'late' | 'starved' | 'killed' | 'gone' = 'alive';
  let hear: (message: Message<Outcome>) => void = () => undefined;
  child.on('message', (message: Message<Outcome>) => hear(message));

  const hearWithin = async (limitMs: number): Promise<Message<Outcome> | End> => {
    const message = new Promise<Message<Outcome>>((resolve) => {
      hear = resolve;
    });
    const usedBefore = processorMsOf(child.pid);
    const judge = (times: number): void => {
      const usedMs = (processorMsOf(child.pid) ?? Number.NaN) - (usedBefore ?? 0);
      const isStarved = usedMs < limitMs * leastShare;
      if (isStarved && times < mostTimes) {
        timer = setTimeout(judge, limitMs, times + 1);
        return;
      }
      state = isStarved ? 'starved' : 'late';
      child.kill('SIGKILL');
    };
    let timer = setTimeout(judge, limitMs, 1);
    const heard = await Promise.race([message, ended]);
    clearTimeout(timer);
    return heard;
  };
  const started = hearWithin(startLimitMs);
  const gone = ended.then(() => {
    if (state === 'alive') state = 'gone';
  });

  const unavailable = (end: End): AppError => {
    if (state === 'starved') {
      const message = `the machine is overloaded: ${called} got little of a processor for ${(mostTimes * timeLimitMs) / 1_000} s; try again in a moment`;
      return new AppError('unavailable', message, { detail: { retryAfterMs } });
    }
    return new AppError(
      'unavailable',
      state === 'killed' ? 'the service is stopping' : end.message,
      {
        cause: end.cause,
      },
    );
  };

  const give = (job: AJob): Promise<Message<Outcome> | End> => {
    const answer = hearWithin(timeLimitMs);
    child.send(job);
    return answer;
  };

  /** Gives the job once more, with what the process said it lacks. */
  const giveWhole = async (
    job: AJob,
    supply: Supply<Supplied> | undefined,
  ): Promise<Message<Outcome> | End> => {
    const whole = supply === undefined ? undefined : complete(job, await supply());
    if (whole === undefined) throw new Error('a job lacks what it is for');
    return give(whole);
  };

  return {
    isAlive: () => state === 'alive',
    async run(job, supply) {
      const first = await started;
      if (first.kind === 'ended') throw unavailable(first);
      const answer = await give(job);
      const heard = answer.kind === 'lacks' ? await giveWhole(job, supply) : answer;
      switch (heard.kind) {
        case 'lacks':
          throw new Error(`${called} lacks what it was given`);
        case 'ready':
        case 'failed':
          throw new Error(heard.kind === 'ready' ? `${called} began again` : heard.message);
        case 'refused':
          throw new AppError(heard.code, heard.message, { fields: heard.fields });
        case 'done':
          return heard;
        case 'ended':
          if (state === 'late') return { kind: 'out_of_time' };
          if (state !== 'killed' && state !== 'starved' && tooMuch.includes(heard.signal)) {
            return { kind: 'out_of_memory' };
          }
          throw unavailable(heard);
      }
    },
    async kill() {
      if (state === 'alive') state = 'killed';
      child.kill('SIGKILL');
      await gone;
    },
  };
};

/** Starts a process that compiles. */
export type StartCompileProcess = (limits: ProcessLimits) => CompileProcess;

export const startCompileProcess: StartCompileProcess = (limits) =>
  startJobProcess(compileProgram, limits);
