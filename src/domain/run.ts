/**
 * A run: the tests of a world, or the proof of a task, carried out by the service on a session of its own. It waits,
 * one control plane carries it out, and what came of it is kept.
 */
import type { TransitionTable } from './transitions.ts';

export const runKinds = ['tests', 'proof'] as const;
export type RunKind = (typeof runKinds)[number];

export const runStates = ['queued', 'running', 'finished'] as const;
export type RunState = (typeof runStates)[number];

/** A run that nobody carries out any more waits again. One that has no room to wait is finished at once. */
export const runTransitions: TransitionTable<RunState> = {
  queued: ['running', 'finished'],
  running: ['queued', 'finished'],
  finished: [],
};

/** What asked for it: a push of a world that wants its tests run, the command line, or another client of the API. */
export const runOrigins = ['push', 'client', 'api'] as const;
export type RunOrigin = (typeof runOrigins)[number];

/** `error`: it could not be carried out, so that nothing is known of what it was to find. */
export const runOutcomes = ['passed', 'failed', 'error'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

export const runLimits = {
  /** Of one project those that wait, and those that are carried out at once. */
  queued: 100,
  runningOfProject: 4,
  /** A report as JSON, in bytes. */
  reportBytes: 512 * 1024,
  /** Of one world: runs that are kept, and reports. */
  keptRuns: 1_000,
  keptReports: 50,
  /** From when it was asked for until it is given up, in milliseconds. */
  totalMs: 60 * 60_000,
  /** From when it was claimed, likewise. */
  runningMs: 30 * 60_000,
} as const;
