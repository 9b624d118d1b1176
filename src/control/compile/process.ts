/**
 * One compile process as the control plane sees it: started, given one job at a time, ended when a job
 * takes too long. What its end means for the job under way is decided here.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AppError } from '#domain/error.ts';
import type { Job, JobKind, Outcomes } from './job.ts';
import type { Message } from './worker.ts';

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
export type JobEnd =
  | { kind: 'done'; outcome: Outcomes[JobKind]; cpuMs: number }
  | { kind: 'out_of_time' }
  | { kind: 'out_of_memory' };

/** Brings the bundle of the world that a job is for, when the process lacks it. */
export type Supply = () => Promise<Uint8Array>;

export type CompileProcess = {
  /** Whether it can be given a job. */
  isAlive(): boolean;
  /**
   * Does one job; the next only after this one. Throws what the job throws, and `unavailable` when the
   * process could not start, was ended from outside, or got too little of a processor for the job to be
   * judged by its time.
   */
  run(job: Job, supply?: Supply): Promise<JobEnd>;
  /** Ends it, whatever it does, and resolves when it is gone. */
  kill(): Promise<void>;
};

const program = fileURLToPath(new URL('./worker.ts', import.meta.url));

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

const startChild = (memoryMb: number): ChildProcess =>
  fork(program, {
    execArgv: [`--max-old-space-size=${memoryMb}`],
    env: {},
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

const awaitEnd = (child: ChildProcess, output: () => string): Promise<End> =>
  new Promise((resolve) => {
    child.on('error', (cause) => {
      child.kill('SIGKILL');
      resolve({ kind: 'ended', signal: null, message: 'a compile process failed', cause });
    });
    child.on('close', (code, signal) => {
      const message = `a compile process ended with ${signal ?? code}: ${output()}`;
      resolve({ kind: 'ended', signal, message });
    });
  });

/** Starts a process. It fails, if at all, when it is given its first job. */
export const startCompileProcess = ({ timeLimitMs, memoryMb }: ProcessLimits): CompileProcess => {
  const child = startChild(memoryMb);
  const ended = awaitEnd(child, keepOutput(child));
  let state: 'alive' | 'late' | 'starved' | 'killed' | 'gone' = 'alive';
  let hear: (message: Message) => void = () => undefined;
  child.on('message', (message: Message) => hear(message));

  const hearWithin = async (limitMs: number): Promise<Message | End> => {
    const message = new Promise<Message>((resolve) => {
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
      const message = `the machine is overloaded: a compile process got little of a processor for ${(mostTimes * timeLimitMs) / 1_000} s; try again in a moment`;
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

  const give = (job: Job): Promise<Message | End> => {
    const answer = hearWithin(timeLimitMs);
    child.send(job);
    return answer;
  };

  /** Gives the job once more, with the world that the process said it lacks. */
  const giveWorld = async (job: Job, supply: Supply | undefined): Promise<Message | End> => {
    if (supply === undefined || !('world' in job)) throw new Error('a job lacks its world');
    const bundle = await supply();
    return give({ ...job, world: { ...job.world, bundle } });
  };

  return {
    isAlive: () => state === 'alive',
    async run(job, supply) {
      const first = await started;
      if (first.kind === 'ended') throw unavailable(first);
      const answer = await give(job);
      const heard = answer.kind === 'lacks' ? await giveWorld(job, supply) : answer;
      switch (heard.kind) {
        case 'lacks':
          throw new Error('a compile process lacks what it was given');
        case 'ready':
        case 'failed':
          throw new Error(heard.kind === 'ready' ? 'a compile process began again' : heard.message);
        case 'refused':
          throw new AppError(heard.code, heard.message, { fields: heard.fields });
        case 'done':
          return heard;
        case 'ended':
          if (state === 'late') return { kind: 'out_of_time' };
          if (state !== 'killed' && state !== 'starved' && memorySignals.includes(heard.signal)) {
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
