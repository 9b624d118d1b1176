/** Builds the client's views of test runs and proofs. */
import type { TestRunDetail, TestRunView } from '#wire/public-api/evaluation/test-run.ts';
import { jsonText } from '../../base/json/json-text.ts';
import { findReport, type RunRow } from '../../db/worlds/test-runs.ts';
import type { Parts } from '../../parts.ts';

const timestamp = (date: Date | null): string | null => date?.toISOString() ?? null;

/** Returns the view of a test run in a list. */
export const viewTestRun = (run: RunRow): TestRunView => ({
  runId: run.id,
  slug: run.slug,
  versionId: run.versionId,
  number: run.number,
  origin: run.origin,
  author: run.author,
  state: run.state,
  outcome: run.outcome,
  summary: run.summary,
  error: run.error,
  sessionId: run.sessionId,
  queuedAt: run.queuedAt.toISOString(),
  startedAt: timestamp(run.startedAt),
  finishedAt: timestamp(run.finishedAt),
});

/** Returns the view of a test run with its report. The report was checked when the host sent it. */
export const viewTestRunDetail = async ({ db }: Parts, run: RunRow): Promise<TestRunDetail> => ({
  ...viewTestRun(run),
  report: jsonText(run.hasReport ? await findReport(db, run.projectId, run.id) : null),
});
