/** Parts for the code of observability: those of sessions, plus the store of traces and the pools for dashboards. */

import type { SessionParts } from '../sessions/parts.ts';
import type { GradeReader } from '../worlds/compile/grade-reader.ts';
import type { DashboardProcesses } from './dashboard-code/process-pools.ts';
import type { TraceStore } from './ingestion/store.ts';

export type ObservabilityParts = SessionParts & {
  /** Store for telemetry, with connections of its own. */
  traces: TraceStore;
  /** Process pools that build and run the code of dashboards. */
  dashboards: DashboardProcesses;
  /** Reads the answers of grades, for their scores. */
  readGrade: GradeReader;
};
