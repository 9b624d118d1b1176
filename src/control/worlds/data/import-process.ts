/**
 * Runs one import in a separate process. The process has the lowest processor priority, and the kernel kills it first
 * when the machine runs out of memory. It is killed if it exceeds its limits on time, memory or disk space. This file
 * decides what the end of the process means: an import that a limit ended would end the same way again, while an import
 * that was ended from outside may be retried.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImportOutcome, ImportPlan, ImportProgress } from '#data/import/plan.ts';
import { AppError } from '#domain/error.ts';
import { codeCacheEnv } from '#runtime/code-cache.ts';
import { pause } from '#runtime/pause.ts';
import type { ImportLimits } from '../../config.ts';
import type { ImportMessage } from './import-worker.ts';
import { diskOf, memoryOf } from './process-use.ts';

/** Failure of an import that would happen again on a retry. */
export class ImportFault extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type ImportRun = {
  plan: ImportPlan;
  limits: ImportLimits;
  onProgress(progress: ImportProgress): void;
  /** Signal that kills the import, which then throws `unavailable`. */
  signal: AbortSignal;
};

const program = fileURLToPath(new URL('./import-worker.ts', import.meta.url));

/** Lowest priority of the operating system: opens and calls of sessions run before every import. */
const lowestPriority = 19;
/**
 * Value, on a scale of 1,000, added to the badness score of the process, so that the kernel kills it first when memory
 * runs out.
 */
const oomScore = '600';
/**
 * Share of the memory limit that the heap gets. The rest is for memory outside the heap, such as the database's pages
 * and buffers.
 */
const heapShare = 0.6;
const lookEveryMs = 500;
const mib = 1024 * 1024;
/** Maximum length of the process's last output that is kept, in characters. */
const keptOutput = 2_000;

const startChild = (memoryMb: number): ChildProcess =>
  fork(program, {
    execArgv: [`--max-old-space-size=${Math.floor(memoryMb * heapShare)}`],
    env: codeCacheEnv(),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });

/** Lowers the priority of the process if the operating system allows it. */
const stepBack = (pid: number): void => {
  try {
    setPriority(pid, lowestPriority);
    writeFileSync(`/proc/${pid}/oom_score_adj`, oomScore);
  } catch {
    return; // it has ended already, or this is no Linux
  }
};

/** Returns the limit that the process exceeds; undefined if it exceeds none. */
const findExcess = async (
  pid: number,
  folder: string,
  { timeLimitMs, memoryMb, diskMib }: ImportLimits,
  beganAt: number,
): Promise<ImportFault | undefined> => {
  if (performance.now() - beganAt > timeLimitMs) {
    return new ImportFault('out_of_time', `the import took longer than ${timeLimitMs / 1_000} s`);
  }
  if ((await memoryOf(pid)) > memoryMb * mib) {
    return new ImportFault('out_of_memory', `the import took more than ${memoryMb} MiB of memory`);
  }
  if ((await diskOf(pid, folder)) > diskMib * mib) {
    return new ImportFault('out_of_disk', `the import took more than ${diskMib} MiB of disk`);
  }
  return undefined;
};

type End = { kind: 'ended'; signal: NodeJS.Signals | null; message: string };

const awaitEnd = (child: ChildProcess): Promise<End> => {
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = `${output}${text}`.slice(-keptOutput);
  });
  return new Promise((resolve) => {
    child.on('error', (error) => {
      child.kill('SIGKILL');
      resolve({
        kind: 'ended',
        signal: null,
        message: `an import process failed: ${error.message}`,
      });
    });
    child.on('close', (code, signal) => {
      const message = `an import process ended with ${signal ?? code}: ${output.trim()}`;
      resolve({ kind: 'ended', signal, message });
    });
  });
};

const outcomeOf = (heard: ImportMessage | End): ImportOutcome => {
  switch (heard.kind) {
    case 'done':
      return heard.outcome;
    case 'refused':
      throw new ImportFault(heard.code, heard.message);
    case 'failed':
      throw new Error(heard.message);
    case 'ended':
      // V8 aborts when its heap is full.
      if (heard.signal === 'SIGABRT') {
        throw new ImportFault('out_of_memory', 'the import took more memory than is allowed');
      }
      throw new AppError('unavailable', heard.message);
    default:
      throw new Error('an import process sent an unknown message');
  }
};

/**
 * Runs an import. Throws `ImportFault` if the import cannot succeed, and `unavailable` if it was ended from outside.
 */
export const runImportProcess = async (run: ImportRun): Promise<ImportOutcome> => {
  const { plan, limits, onProgress, signal } = run;
  signal.throwIfAborted();
  const child = startChild(limits.memoryMb);
  const { pid } = child;
  const ended = awaitEnd(child);
  let excess: ImportFault | undefined;
  const beganAt = performance.now();
  const watching = new AbortController();
  /** Checks the limits at intervals, until the process ends. After that, another process may have its id. */
  const watch = async (id: number): Promise<void> => {
    while (!watching.signal.aborted) {
      await pause(lookEveryMs, watching.signal);
      if (watching.signal.aborted) return;
      const found = await findExcess(id, dirname(plan.folder), limits, beganAt);
      if (found === undefined || watching.signal.aborted) continue;
      excess = found;
      child.kill('SIGKILL');
      return;
    }
  };
  const watched = pid === undefined ? Promise.resolve() : watch(pid);
  const stop = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', stop, { once: true });
  if (pid !== undefined) stepBack(pid);
  const said = new Promise<ImportMessage>((resolve) => {
    child.on('message', (message: ImportMessage) => {
      if (message.kind === 'ready') child.send(plan, () => undefined);
      else if (message.kind === 'progress') onProgress(message.progress);
      else resolve(message);
    });
  });
  try {
    const heard = await Promise.race([said, ended]);
    if (excess !== undefined) throw excess;
    return outcomeOf(heard);
  } finally {
    watching.abort();
    signal.removeEventListener('abort', stop);
    child.kill('SIGKILL');
    await ended;
    await watched;
  }
};
