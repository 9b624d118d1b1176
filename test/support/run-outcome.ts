import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** A test as the JSON report of Vitest tells it; `pending` and `todo` did not run. */
type TestResult = {
  fullName: string;
  status: 'passed' | 'failed' | 'skipped' | 'pending' | 'todo' | 'disabled';
  failureMessages?: string[] | null;
};

/** A file of tests in it. One that could not be loaded or prepared is failed, with a message and maybe no test. */
type FileResult = {
  name: string;
  status: 'passed' | 'failed';
  message?: string;
  assertionResults: TestResult[];
};

/** The JSON report of one run of Vitest, as far as it is read here. */
export type RunReport = { testResults: FileResult[] };

/** What failed, and the first line of why. A file that could not be prepared has no test. */
export type Failure = { file: string; test?: string; why: string };

/** What a run, or two of them, came to. */
export type RunOutcome = {
  passed: number;
  failures: Failure[];
  skipped: number;
  /** What failed the first time and passed the second: by chance, or because the machine was busy. */
  recovered: Failure[];
};

const firstLine = (text: string | undefined): string =>
  text?.split('\n').find((line) => line.trim() !== '') ?? 'no message';

const failuresOf = ({ name: file, status, message, assertionResults }: FileResult): Failure[] => {
  const failed = assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ file, test: test.fullName, why: firstLine(test.failureMessages?.[0]) }));
  return status === 'failed' && failed.length === 0 ? [{ file, why: firstLine(message) }] : failed;
};

/** The files of a run in which something failed, in the order of the report. */
export const failedFiles = ({ testResults }: RunReport): string[] =>
  testResults.filter((file) => failuresOf(file).length > 0).map((file) => file.name);

/**
 * Counts a run. A file that ran again in `second` counts as it did there, and what of it had failed before
 * is told in `recovered` once nothing of the file fails.
 */
export const outcomeOf = (
  first: RunReport,
  second: RunReport = { testResults: [] },
): RunOutcome => {
  const again = new Map(second.testResults.map((file) => [file.name, file]));
  const files = first.testResults.map((file) => again.get(file.name) ?? file);
  const tests = files.flatMap((file) => file.assertionResults);
  const failures = files.flatMap(failuresOf);
  const failing = new Set(failures.map((failure) => failure.file));
  const passed = tests.filter((test) => test.status === 'passed').length;
  const failed = tests.filter((test) => test.status === 'failed').length;
  return {
    passed,
    failures,
    skipped: tests.length - passed - failed,
    recovered: first.testResults
      .filter((file) => again.has(file.name) && !failing.has(file.name))
      .flatMap(failuresOf),
  };
};

const told = ({ file, test, why }: Failure): string =>
  `${relative('', file)}${test === undefined ? '' : ` > ${test}`}\n    ${why}`;

/**
 * `node run-outcome.ts failed <report>` prints the files that failed; `node run-outcome.ts counts <report>
 * [<second>]` what failed, what passed only the second time, and last `<passed> <failed> <skipped>`.
 */
const main = (action: string, ...paths: string[]): void => {
  const [first = { testResults: [] }, second] = paths.map(
    (path): RunReport => JSON.parse(readFileSync(path, 'utf8')),
  );
  if (action === 'failed') {
    for (const file of failedFiles(first)) console.log(file);
    return;
  }
  const { passed, failures, skipped, recovered } = outcomeOf(first, second);
  for (const failure of recovered) console.log(`PASSED ONLY THE SECOND TIME: ${told(failure)}`);
  for (const failure of failures) console.log(`FAILED: ${told(failure)}`);
  console.log(passed, failures.length, skipped);
};

if (import.meta.main) main(...(process.argv.slice(2) as [string, ...string[]]));
