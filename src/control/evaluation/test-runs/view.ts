/** Runs as clients see them. */
import type { TestRunDetail, TestRunView } from '#wire/public-api/evaluation/test-run.ts';
import { jsonText } from '../../base/json/json-text.ts';
import { findReport, type RunRow } from '../../db/worlds/test-runs.ts';
import type { Parts } from '../../parts.ts';

const timestamp = (date: Date | null): string | null => date?.toISOString() ?? null;

/** A run of tests in a list. */
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

/** The run with its report. What its host sent was looked through when it came. */
export const viewTestRunDetail = async ({ db }: Parts, run: RunRow): Promise<TestRunDetail> => ({
  ...viewTestRun(run),
  report: jsonText(run.hasReport ? await findReport(db, run.projectId, run.id) : null),
});
