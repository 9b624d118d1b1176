import { describe, expect, it } from 'vitest';
import type { RunRequest, UserCodeLimits } from '../run.ts';
import type { WorkerExit } from './channel.ts';
import { resultOfExit } from './exit.ts';

const limits = { memoryMb: 64, threads: 8 } as UserCodeLimits;
const request = { function: 'f', timeoutMs: 1_000 } as RunRequest;

const errorOf = (exit: Partial<WorkerExit>) => {
  const whole = { status: null, signal: null, output: '', killedFor: undefined, ...exit };
  const ended = { exit: whole as WorkerExit, request, limits, elapsedMs: 1, trace: [] };
  const result = resultOfExit(ended);
  return result.ok ? undefined : result.error;
};

describe('a run whose process ended', () => {
  it('by a SIGKILL from outside is reported as out of memory, with the reason', () => {
    expect(errorOf({ signal: 'SIGKILL' })).toEqual({
      code: 'out_of_memory',
      message:
        'the process of f was killed by SIGKILL from outside, most likely because memory ran out; f may use 64 MiB, and was not observed to use more',
      details: { signal: 'SIGKILL' },
    });
  });

  it.each([
    ['the host, which saw the excess', { signal: 'SIGKILL', killedFor: 'out_of_memory' }],
    ['V8, whose heap was full', { signal: 'SIGABRT', output: 'JavaScript heap out of memory' }],
  ] as const)('by %s is reported as out of memory', (_, exit) => {
    expect(errorOf(exit)).toEqual({
      code: 'out_of_memory',
      message: 'f took more than its 64 MiB of memory',
    });
  });

  it('because the system refused it more threads is reported with that reason, even if no sample counted the threads', () => {
    const output = "Traceback (most recent call last):\nRuntimeError: can't start new thread\n\n";
    expect(errorOf({ status: 1, output })).toEqual({
      code: 'too_many_threads',
      message: 'f had more than 8 threads and was stopped',
    });
    expect(errorOf({ status: 1, output: "can't start new thread" })?.code).toBe('crashed');
  });

  it('by another signal is reported as crashed', () => {
    expect(errorOf({ signal: 'SIGSEGV' })).toMatchObject({
      code: 'crashed',
      details: { signal: 'SIGSEGV' },
    });
  });
});
