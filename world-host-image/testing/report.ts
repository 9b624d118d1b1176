/** The report of a run of tests: each with its outcome, within what a report may hold. */
import { runLimits } from '#domain/run.ts';

/**
 * `error`: the file cannot be imported, or no test of it could be begun. `crashed`, `timed_out`, `out_of_memory`,
 * `too_much_output`: the process ended, or was ended, under the test. `not_run`: its time was over before it began.
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
  /** Where it failed: path in the tree. */
  file: string | null;
  line: number | null;
  /** As the runner shows it, with the values. */
  text: string;
};

export type TestResult = {
  /** Its file and its name; of a file that could not be run, the file alone. */
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
  /** Tests that it has no room for; they count in the summary. */
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

/** Room for what stands around the tests. */
const envelopeBytes = 4_096;
const mostBytes = runLimits.reportBytes - envelopeBytes;

const sizeOf = (test: TestResult): number => Buffer.byteLength(JSON.stringify(test)) + 1;

const withoutTexts = (test: TestResult): TestResult => ({
  ...test,
  output: '',
  failure: test.failure === null ? null : { ...test.failure, text: '' },
});

/** Those that the report has room for: failures first, then in their order. */
const fitting = (tests: readonly TestResult[]): TestResult[] => {
  const kept = new Map<TestResult, TestResult>();
  let bytes = 0;
  for (const test of [...tests].sort((a, b) => Number(isFine(a)) - Number(isFine(b)))) {
    for (const form of [test, withoutTexts(test)]) {
      const size = sizeOf(form);
      if (bytes + size > mostBytes || kept.has(test)) continue;
      bytes += size;
      kept.set(test, form);
    }
  }
  return tests.flatMap((test) => kept.get(test) ?? []);
};

/** The report of some tests. */
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
