/** Type that describes how the worker of each language is started and measured. */
import type { TraceFrame, UserLanguage } from '../run.ts';
import type { BoundaryPart } from './boundary.ts';
import type { Launch } from './child.ts';
import type { MemoryPool } from './watch.ts';

/** Description of a language's worker: how it is started, and what the host must know about it. */
export type WorkerKind = {
  language: UserLanguage;
  launch: Launch;
  /**
   * True if a worker is started before there is anything to run, because such a worker is small and most worlds need
   * one.
   */
  isPrestarted: boolean;
  /** Signal that is sent when a run's time is over. The worker then prints its stack and ends. */
  lastSignal?: NodeJS.Signals;
  /** Memory in MiB that the language's own runtime needs when it works. */
  ownMb: number;
  /** Number of threads that the language's runtime starts only after the worker is ready. */
  laterThreads: number;
  /** Parses the stack of a run that timed out, from the worker's standard error. */
  readTimeoutTrace(stderr: string, directory: string): TraceFrame[];
  /** Called with the sandbox parts that the system lacks, before the worker is ready. */
  onOpen?(missing: readonly BoundaryPart[]): void;
  /** Memory pool that the worker shares with the host's other processes. */
  pool?: MemoryPool;
};
