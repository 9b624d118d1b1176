/** Turns the end of a run's process into a result, with a message that tells the author what to change. */

import type { RunRequest, RunResult, TraceFrame, UserCodeLimits } from '../run.ts';
import type { WorkerExit } from './channel.ts';
import { describeEnd } from './child.ts';

export const failed = (code: string, message: string, details?: unknown): RunResult => ({
  ok: false,
  error: { code, message, ...(details === undefined ? {} : { details }) },
});

/** Formats a size for people: `4 MiB`, `1.5 MiB`. */
export const describeSize = (bytes: number): string => `${Math.round(bytes / 104_857.6) / 10} MiB`;

const timedOut = (request: RunRequest, trace: TraceFrame[]): RunResult => {
  const at = trace.at(-1);
  const place = at === undefined ? '' : `, at ${at.file}:${at.line} in ${at.function}`;
  const message = `${request.function} was stopped after ${request.timeoutMs} ms${place}`;
  return failed('timeout', message, { trace });
};

const outOfMemory = (request: RunRequest, { memoryMb }: UserCodeLimits): RunResult =>
  failed('out_of_memory', `${request.function} took more than its ${memoryMb} MiB of memory`);

/** Signals that end a process when V8 cannot get memory for it. */
const abortSignals = new Set<string | null>(['SIGABRT', 'SIGTRAP']);

/** Returns true if V8 ran out of heap memory; V8 prints that before it aborts. */
const heapIsFull = ({ signal, output }: WorkerExit): boolean =>
  abortSignals.has(signal) && /out of memory/.test(output);

/**
 * Returns true for a Python process that ended because the system refused it more threads. On a busy host, the process
 * may have ended before the watcher could count its threads.
 */
const threadsRanOut = ({ output }: WorkerExit): boolean =>
  /^RuntimeError: can't start new thread$/m.test(output);

/**
 * Returns the result of a run that was ended by a SIGKILL that the host did not send. The cause is most likely a lack
 * of memory, but none was observed. Code cannot kill itself in this way. The system does it when memory runs out, and
 * another process with the right to kill could also do it.
 */
const killedFromOutside = (request: RunRequest, { memoryMb }: UserCodeLimits): RunResult =>
  failed(
    'out_of_memory',
    `the process of ${request.function} was killed by SIGKILL from outside, most likely because memory ran out; ${request.function} may use ${memoryMb} MiB, and was not observed to use more`,
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

/** Returns the result of a run that left a thread running, which could disturb later runs. */
export const leftRunning = (request: RunRequest): RunResult =>
  failed(
    'left_running',
    `${request.function} left a thread running: wait for its end before you return (in Python: join)`,
  );

export type EndedRun = {
  exit: WorkerExit;
  request: RunRequest;
  limits: UserCodeLimits;
  /**
   * Time since the run began, in milliseconds. If the worker ended by itself after the run's time was over, that counts
   * as a timeout, too.
   */
  elapsedMs: number;
  /** Stack of the run, as far as the worker could print it. */
  trace: TraceFrame[];
};

/** Returns the result of a run whose process ended. If the host itself is at fault, throws the host's error. */
export const resultOfExit = ({ exit, request, limits, elapsedMs, trace }: EndedRun): RunResult => {
  switch (exit.killedFor) {
    case 'host_fault':
      throw exit.fault;
    case 'timeout':
      return timedOut(request, trace);
    case 'too_large':
      return failed(
        'too_large',
        `a message of the code exceeded the maximum of ${describeSize(limits.messageBytes)}`,
      );
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
      return failed('crashed', 'its worker was stopped while it ran');
    default:
      if (exit.signal === 'SIGKILL') return killedFromOutside(request, limits);
      if (heapIsFull(exit)) return outOfMemory(request, limits);
      if (threadsRanOut(exit)) return tooManyThreads(request, limits);
      return elapsedMs >= request.timeoutMs ? timedOut(request, trace) : crashed(exit);
  }
};
