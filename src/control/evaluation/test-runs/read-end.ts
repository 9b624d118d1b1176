/**
 * Derives the end of a test run from the answer to its call, an object with `passed`, and with counts in `summary`.
 * Nothing else in a host's answer is trusted. If the answer has another form or is too large, the run ends with an
 * error.
 */
import { isObject } from '#domain/json.ts';
import { runLimits } from '#domain/run.ts';
import type { CallRow } from '../../db/sessions/calls.ts';
import type { RunEnd } from '../../db/worlds/test-runs.ts';

const mostCounts = 20;

/** Builds the end of a run that failed with an error. */
export const failedWith = (code: string, message: string): RunEnd => ({
  outcome: 'error',
  summary: null,
  reportJson: null,
  error: { code, message },
});

const readCounts = (value: unknown): Record<string, number> => {
  if (!isObject(value)) return {};
  const counts = Object.entries(value).flatMap(([name, count]): [string, number][] =>
    Number.isSafeInteger(count) && name.length <= 64 ? [[name, count as number]] : [],
  );
  return Object.fromEntries(counts.slice(0, mostCounts));
};

const readReport = (reportJson: string): RunEnd => {
  const bytes = Buffer.byteLength(reportJson);
  if (bytes > runLimits.reportBytes) {
    return failedWith(
      'too_large',
      `the report has ${bytes} bytes, more than ${runLimits.reportBytes}`,
    );
  }
  const report: unknown = JSON.parse(reportJson);
  if (!isObject(report) || typeof report.passed !== 'boolean') {
    return failedWith('internal', 'the host returned no report');
  }
  const outcome = report.passed ? 'passed' : 'failed';
  return { outcome, summary: readCounts(report.summary), reportJson, error: null };
};

/** Returns the end of a run according to its call; undefined if the call was lost with its session. */
export const readEnd = ({ state, outputJson, errorJson }: CallRow): RunEnd | undefined => {
  if (state === 'succeeded') return readReport(outputJson ?? 'null');
  if (state !== 'failed') return undefined;
  const { code, message } = JSON.parse(errorJson ?? '{}') as { code?: string; message?: string };
  return failedWith(code ?? 'internal', message ?? 'the call failed');
};
