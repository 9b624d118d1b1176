/** Counts a run of a tier from its JSON report, for `.ci/run`. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { readTier } from '../../tiers.ts';
import { runFile } from './times.ts';

/** A test in Vitest's JSON report; `pending` and `todo` did not run. */
type TestResult = {
  fullName: string;
  status: 'passed' | 'failed' | 'skipped' | 'pending' | 'todo' | 'disabled';
  failureMessages?: string[] | null;
};

/**
 * A file of tests in the report. One that could not be loaded or prepared is failed, with a message and perhaps no
 * test.
 */
type FileResult = {
  name: string;
  status: 'passed' | 'failed';
  message?: string;
  assertionResults: TestResult[];
};

/** The part of Vitest's JSON report that this file reads. */
export type RunReport = { testResults: FileResult[] };

/** A failed test, or a file that could not be prepared, with the first line of the reason. */
export type Failure = { file: string; test?: string; why: string };

export type RunOutcome = { passed: number; failures: Failure[]; skipped: number };

const firstLine = (text: string | undefined): string =>
  text?.split('\n').find((line) => line.trim() !== '') ?? 'no message';

const failuresOf = ({ name: file, status, message, assertionResults }: FileResult): Failure[] => {
  const failed = assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ file, test: test.fullName, why: firstLine(test.failureMessages?.[0]) }));
  return status === 'failed' && failed.length === 0 ? [{ file, why: firstLine(message) }] : failed;
};

/** Counts a run; a file that could not be prepared is one failure. */
export const outcomeOf = ({ testResults }: RunReport): RunOutcome => {
  const tests = testResults.flatMap((file) => file.assertionResults);
  const passed = tests.filter((test) => test.status === 'passed').length;
  const failed = tests.filter((test) => test.status === 'failed').length;
  return {
    passed,
    failures: testResults.flatMap(failuresOf),
    skipped: tests.length - passed - failed,
  };
};

const lineOf = ({ file, test, why }: Failure): string =>
  `FAILED: ${relative('', file)}${test === undefined ? '' : ` > ${test}`}\n    ${why}`;

/** Runs `node run-outcome.ts <tier>`, which prints the failures, and last `<passed> <failed> <skipped>`. */
const main = (name: string | undefined): void => {
  const report = JSON.parse(readFileSync(runFile(readTier(name)), 'utf8')) as RunReport;
  const { passed, failures, skipped } = outcomeOf(report);
  for (const failure of failures) console.log(lineOf(failure));
  console.log(passed, failures.length, skipped);
};

if (import.meta.main) main(process.argv[2]);
