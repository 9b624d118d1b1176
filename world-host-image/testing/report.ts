/** Builds the report of a run of tests: each test with its outcome, within the report's size limit. */
import { runLimits } from '#domain/run.ts';

/**
 * Outcomes of a test. `error`: the file cannot be imported, or none of its tests could begin. `crashed`, `timed_out`,
 * `out_of_memory`, `too_much_output`: the process ended, or was killed, during the test. `not_run`: the test run ended
 * before the test began.
 */
export const testOutcomes = [
  'passed',
  'failed',
  'skipped',
  'error',
  'crashed',
  'timed_out',
  'out_of_memory',
  'too_much_output',
  'not_run',
] as const;
export type TestOutcome = (typeof testOutcomes)[number];

export type TestFailure = {
  message: string;
  /** File in which the test failed, as a path in the tree; null if it is unknown. */
  file: string | null;
  line: number | null;
  /** Failure as the test runner formats it, including the compared values. */
  text: string;
};

export type TestResult = {
  /** File and name of the test; only the file if the file could not be run. */
  name: string;
  file: string;
  line: number | null;
  outcome: TestOutcome;
  durationMs: number;
  output: string;
  failure: TestFailure | null;
};

export type SuiteReport = {
  passed: boolean;
  summary: Record<string, number>;
  durationMs: number;
  tests: TestResult[];
  /** Number of tests that do not fit into the report; the summary counts them nevertheless. */
  leftOut: number;
};

const isFine = ({ outcome }: TestResult): boolean => outcome === 'passed' || outcome === 'skipped';

const summaryOf = (tests: readonly TestResult[]): Record<string, number> => {
  const counts = testOutcomes.map((outcome): [string, number] => [
    outcome,
    tests.filter((test) => test.outcome === outcome).length,
  ]);
  return { total: tests.length, ...Object.fromEntries(counts.filter(([, count]) => count > 0)) };
};

/** Bytes that are reserved for everything in the report except the tests. */
const envelopeBytes = 4_096;
const mostBytes = runLimits.reportBytes - envelopeBytes;

const sizeOf = (test: TestResult): number => Buffer.byteLength(JSON.stringify(test)) + 1;

const withoutTexts = (test: TestResult): TestResult => ({
  ...test,
  output: '',
  failure: test.failure === null ? null : { ...test.failure, text: '' },
});

/**
 * Selects the tests that fit into the report: failures first, then the other tests in their order. If a test does not
 * fit, it is tried again without its output and the text of its failure.
 */
const fitting = (tests: readonly TestResult[]): TestResult[] => {
  const shown = new Map<TestResult, TestResult>();
  let bytes = 0;
  for (const test of [...tests].sort((a, b) => Number(isFine(a)) - Number(isFine(b)))) {
    for (const form of [test, withoutTexts(test)]) {
      const size = sizeOf(form);
      if (bytes + size > mostBytes || shown.has(test)) continue;
      bytes += size;
      shown.set(test, form);
    }
  }
  return tests.flatMap((test) => shown.get(test) ?? []);
};

/** Builds the report of some tests. */
export const reportOf = (tests: readonly TestResult[], durationMs: number): SuiteReport => {
  const shown = fitting(tests);
  return {
    passed: tests.every(isFine),
    summary: summaryOf(tests),
    durationMs,
    tests: shown,
    leftOut: tests.length - shown.length,
  };
};
