/** The parts that observability is given: those of sessions, and what writes traces and runs dashboards. */

import type { SessionParts } from '../sessions/parts.ts';
import type { GradeReader } from '../worlds/compile/grade-reader.ts';
import type { DashboardProcesses } from './dashboard-code/process-pools.ts';
import type { TraceStore } from './ingestion/store.ts';

export type ObservabilityParts = SessionParts & {
  /** What agents did, by connections of its own. */
  traces: TraceStore;
  /** Code of dashboards, built and run in processes. */
  dashboards: DashboardProcesses;
  /** Reads what grades answered, for their scores. */
  readGrade: GradeReader;
};
