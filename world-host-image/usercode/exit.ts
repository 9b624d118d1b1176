/** What a run came to whose process ended under it, in words that its author can act on. */
import type { WorkerExit } from './channel.ts';
import { describeEnd } from './child.ts';
import type { RunRequest, RunResult, TraceFrame, UserCodeLimits } from './run.ts';

export const failed = (code: string, message: string, details?: unknown): RunResult => ({
  ok: false,
  error: { code, message, ...(details === undefined ? {} : { details }) },
});

/** A size for people: `4 MiB`, `1.5 MiB`. */
export const describeSize = (bytes: number): string => `${Math.round(bytes / 104_857.6) / 10} MiB`;

const timedOut = (request: RunRequest, trace: TraceFrame[]): RunResult => {
  const at = trace.at(-1);
  const place = at === undefined ? '' : `, at ${at.file}:${at.line} in ${at.function}`;
  const message = `${request.function} was stopped after ${request.timeoutMs} ms${place}`;
  return failed('timeout', message, { trace });
};

const outOfMemory = (request: RunRequest, { memoryMb }: UserCodeLimits): RunResult =>
  failed('out_of_memory', `${request.function} took more than its ${memoryMb} MiB of memory`);

/** The signals by which V8 ends a process that it cannot give memory. */
const abortSignals = new Set<string | null>(['SIGABRT', 'SIGTRAP']);

/** V8 says so itself before it aborts. */
const heapIsFull = ({ signal, output }: WorkerExit): boolean =>
  abortSignals.has(signal) && /out of memory/.test(output);

/**
 * Returns true for a process of Python that ended because the system gave it no more threads. A busy host may look at
 * the process only after that, and then no watcher has counted its threads.
 */
const threadsRanOut = ({ output }: WorkerExit): boolean =>
  /^RuntimeError: can't start new thread$/m.test(output);

/**
 * Takes a SIGKILL that is not the host's for memory, and says that it was not seen: code cannot kill itself so, the system
 * does when it has no memory left, and so does whoever else may kill processes of the machine.
 */
const killedFromOutside = (request: RunRequest, { memoryMb }: UserCodeLimits): RunResult =>
  failed(
    'out_of_memory',
    `the process of ${request.function} was killed (SIGKILL), and not by its host. This is taken for a lack of memory, for which the system kills so; ${request.function} may have ${memoryMb} MiB, and was not seen to take more`,
    { signal: 'SIGKILL' },
  );

const crashed = (exit: WorkerExit): RunResult => {
  const { status, signal, output } = exit;
  const details = { status, signal, output: output.slice(-2_000) };
  return failed('crashed', `the code's process ended: ${describeEnd(exit)}`, details);
};

export const tooManyThreads = (request: RunRequest, { threads }: UserCodeLimits): RunResult =>
  failed(
    'too_many_threads',
    `${request.function} had more than ${threads} threads and was stopped`,
  );

/** The result of a run that left a thread, of which nobody knows what it will do. */
export const leftRunning = (request: RunRequest): RunResult =>
  failed(
    'left_running',
    `${request.function} left a thread running: wait for its end before you return (in Python: join)`,
  );

export type EndedRun = {
  exit: WorkerExit;
  request: RunRequest;
  limits: UserCodeLimits;
  /** A worker that ends by itself when its time is over was too slow, too. */
  elapsedMs: number;
  /** Where the run stood, as far as its worker could tell. */
  trace: TraceFrame[];
};

/** The result of a run whose process ended. Throws what the host itself is to blame for. */
export const resultOfExit = ({ exit, request, limits, elapsedMs, trace }: EndedRun): RunResult => {
  switch (exit.killedFor) {
    case 'host_fault':
      throw exit.fault;
    case 'timeout':
      return timedOut(request, trace);
    case 'too_large':
      return failed('too_large', `a message was over ${describeSize(limits.messageBytes)}`);
    case 'out_of_memory':
      return outOfMemory(request, limits);
    case 'too_much_output':
      return failed(
        'too_much_output',
        `${request.function} printed more than ${describeSize(limits.runOutputBytes)} and was stopped`,
      );
    case 'too_many_threads':
      return tooManyThreads(request, limits);
    case 'protocol':
      return failed('crashed', "the code wrote to its worker's own channel and was stopped");
    case 'stopped':
      return failed('crashed', 'its worker was stopped under it');
    default:
      if (exit.signal === 'SIGKILL') return killedFromOutside(request, limits);
      if (heapIsFull(exit)) return outOfMemory(request, limits);
      if (threadsRanOut(exit)) return tooManyThreads(request, limits);
      return elapsedMs >= request.timeoutMs ? timedOut(request, trace) : crashed(exit);
  }
};
