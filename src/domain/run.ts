/**
 * World run: the tests of a world, or the proof of a task, which the service runs on a session that it opens for the
 * run. The run is queued, one replica of the control plane executes it, and its report is stored.
 */
import type { TransitionTable } from './transitions.ts';

export const runKinds = ['tests', 'proof'] as const;
export type RunKind = (typeof runKinds)[number];

export const runStates = ['queued', 'running', 'finished'] as const;
export type RunState = (typeof runStates)[number];

/**
 * Allowed transitions of a world run. If the replica that executes the run is lost, the run is queued again. If the
 * queue is full, the run is finished at once.
 */
export const runTransitions: TransitionTable<RunState> = {
  queued: ['running', 'finished'],
  running: ['queued', 'finished'],
  finished: [],
};

/**
 * Origins of a world run. `push`: a push of a world whose tests are run. `client`: the command line. `api`: another
 * client of the API.
 */
export const runOrigins = ['push', 'client', 'api'] as const;
export type RunOrigin = (typeof runOrigins)[number];

/** Outcomes of a run. `error`: the run could not be executed, so its result is unknown. */
export const runOutcomes = ['passed', 'failed', 'error'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

export const runLimits = {
  /** Maximum number of queued and running runs of one project. */
  queued: 100,
  runningOfProject: 4,
  /** Maximum size of a report as JSON, in bytes. */
  reportBytes: 512 * 1024,
  /** Maximum number of runs and of reports that are kept for one world. */
  keptRuns: 1_000,
  keptReports: 50,
  /** Maximum time from the request to the end of the run, in milliseconds. */
  totalMs: 60 * 60_000,
  /** Maximum time from the claim to the end of the run, in milliseconds. */
  runningMs: 30 * 60_000,
} as const;
