/**
 * Parts that the code of observability needs: those of sessions, the telemetry store and the process pools for
 * dashboards.
 */

import type { SessionParts } from '../sessions/parts.ts';
import type { GradeReader } from '../worlds/compile/grade-reader.ts';
import type { DashboardProcesses } from './dashboard-code/process-pools.ts';
import type { TraceStore } from './ingestion/store.ts';

export type ObservabilityParts = SessionParts & {
  /** Store for telemetry, on its own database connections. */
  traces: TraceStore;
  /** Process pools that build and run the code of dashboards. */
  dashboards: DashboardProcesses;
  /** Reads the grades in answers of calls, to derive their scores. */
  readGrade: GradeReader;
};
