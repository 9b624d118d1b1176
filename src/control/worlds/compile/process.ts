/**
 * Controls a job process, such as a compile process, from the control plane. The process is started, gets one job at a
 * time, and is killed when a job takes too long. This file decides what the end of the process means for the job.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import type { Job, JobKind, Outcomes } from './job.ts';
import type { Message } from './serve-jobs.ts';

/** Milliseconds of a clock tick: Linux reports processor times in hundredths of a second. */
const msPerTick = 10;
/**
 * Positions of the user time and the kernel time among the fields after the program's name. The name may itself contain
 * spaces, so fields are counted after it.
 */
const [userPlace, kernelPlace] = [11, 12];

/** Returns the processor time that a process has used, in milliseconds; undefined if the system does not report it. */
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
  /** Time limit of one job, in milliseconds. */
  timeLimitMs: number;
  /** Heap limit of the process, in MiB. */
  memoryMb: number;
};

/**
 * End of a job. Either the job is done, with its outcome and processor time, or a limit stopped the job and ended the
 * process.
 */
export type JobEnd<Outcome = Outcomes[JobKind]> =
  | { kind: 'done'; outcome: Outcome; cpuMs: number }
  | { kind: 'out_of_time' }
  | { kind: 'out_of_memory' };

/**
 * Returns the data that a job needs and the process does not have; for a compile process, the bundle of the job's
 * world.
 */
export type Supply<Supplied = Uint8Array> = () => Promise<Supplied>;

/** Program that runs jobs, built with `serve-jobs.ts`. */
export type JobProgram<AJob, Supplied> = {
  /** Path of the program's file. */
  file: string;
  /** Name of the processes in messages. */
  called: string;
  /**
   * Parts of messages: `undone` says what an abandoned job did not do, `waits` what jobs wait for, `quota` is the name
   * of the quota.
   */
  words: { undone: string; waits: string; quota: string };
  /** Command line flags for Node.js, besides the heap limit. */
  flags?: readonly string[];
  /** Signals that end the process when its native code runs out of memory. V8 itself uses another signal. */
  overflows?: readonly NodeJS.Signals[];
  /** Returns the job with the supplied data; undefined if the job takes no data. */
  complete(job: AJob, supplied: Supplied): AJob | undefined;
};

export type JobProcess<AJob, Outcome, Supplied> = {
  /** Returns true if the process can take a job. */
  isAlive(): boolean;
  /**
   * Runs one job; the next job may start only when it has ended. Throws what the job throws. Throws `unavailable` if
   * the process could not start or was ended from outside, or if it got too little processor time for the time limit to
   * be meaningful.
   */
  run(job: AJob, supply?: Supply<Supplied>): Promise<JobEnd<Outcome>>;
  /** Kills the process, whatever it is doing. Resolves when the process has ended. */
  kill(): Promise<void>;
};

export type CompileProcess = JobProcess<Job, Outcomes[JobKind], Uint8Array>;

/** Program of compile processes. */
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

/**
 * Time limit for the start of a process on a busy machine, in milliseconds. The time of a job is measured only from the
 * end of the start.
 */
const startLimitMs = 30_000;

/**
 * Smallest share of a processor. A job that got less during its time limit was starved by other processes. The job
 * itself may be small, so it continues.
 */
const leastShare = 0.15;
/** Maximum time for which a starved job continues, as a multiple of the time limit. */
const mostTimes = 3;
/** Delay after which an overloaded machine may have recovered, in milliseconds. */
const retryAfterMs = 5_000;

/** Maximum length of the process's last output that is kept, in characters. */
const keptOutput = 2_000;

/**
 * Signals that mean a lack of memory: V8 aborts when its heap is full, and the kernel kills a process when the machine
 * has no memory left.
 */
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

/** Starts a process. If the start fails, the first job throws the error. */
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

  /** Sends the job again, with the data that the process reported as missing. */
  const giveWhole = async (
    job: AJob,
    supply: Supply<Supplied> | undefined,
  ): Promise<Message<Outcome> | End> => {
    const whole = supply === undefined ? undefined : complete(job, await supply());
    if (whole === undefined) throw new Error('a process asked for data that its job does not have');
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
          throw new Error(`${called} reports data as missing that was sent to it`);
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

/** Starts a compile process. */
export type StartCompileProcess = (limits: ProcessLimits) => CompileProcess;

export const startCompileProcess: StartCompileProcess = (limits) =>
  startJobProcess(compileProgram, limits);
