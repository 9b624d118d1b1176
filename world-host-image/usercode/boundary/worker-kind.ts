/** Describes to the pool how each language's worker is started and measured. */
import type { TraceFrame, UserLanguage } from '../run.ts';
import type { BoundaryPart } from './boundary.ts';
import type { Launch } from './child.ts';
import type { MemoryPool } from './watch.ts';

/** Description of a language's worker: how it is started, and what the host must know about it. */
export type WorkerKind = {
  language: UserLanguage;
  launch: Launch;
  /** True if one is kept up before there is anything to run: it is small, and most worlds need it. */
  isPrestarted: boolean;
  /** Signal on which the worker prints its stack and ends; it is sent when a run's time is over. */
  lastSignal?: NodeJS.Signals;
  /** Memory that the language itself needs when it works, in MiB. */
  ownMb: number;
  /** Number of threads that the language starts later, beyond those it has when it is ready. */
  laterThreads: number;
  /** Parses a run's stack at its timeout from the worker's standard error. */
  readTimeoutTrace(stderr: string, directory: string): TraceFrame[];
  /** Called with the sandbox parts that the system lacks, before the worker is ready. */
  onOpen?(missing: readonly BoundaryPart[]): void;
  /** Memory pool that it shares with the host's other processes. */
  pool?: MemoryPool;
};
