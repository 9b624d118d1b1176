import { expect, it } from 'vitest';
import { failedFiles, outcomeOf, type RunReport } from './support/run-outcome.ts';

type Status = RunReport['testResults'][number]['assertionResults'][number]['status'];

const file = (name: string, ...statuses: Status[]): RunReport['testResults'][number] => ({
  name,
  status: statuses.includes('failed') ? 'failed' : 'passed',
  message: '',
  assertionResults: statuses.map((status, index) => ({
    fullName: `test ${index}`,
    status,
    failureMessages: status === 'failed' ? ['\nexpected 1 to be 2\n  at here'] : [],
  })),
});
const unprepared: RunReport['testResults'][number] = {
  name: 'c.test.ts',
  status: 'failed',
  message: 'no database',
  assertionResults: [],
};

it('counts tests, and a file that could not be prepared as one failure', () => {
  const report = {
    testResults: [
      file('a.test.ts', 'passed', 'skipped', 'todo'),
      file('b.test.ts', 'failed', 'passed'),
      unprepared,
    ],
  };
  expect(failedFiles(report)).toEqual(['b.test.ts', 'c.test.ts']);
  expect(outcomeOf(report)).toEqual({
    passed: 2,
    skipped: 2,
    failures: [
      { file: 'b.test.ts', test: 'test 0', why: 'expected 1 to be 2' },
      { file: 'c.test.ts', why: 'no database' },
    ],
    recovered: [],
  });
});

it('takes a file that ran again as it was the second time, and tells what had failed before', () => {
  const first = {
    testResults: [file('a.test.ts', 'passed'), file('b.test.ts', 'failed', 'passed'), unprepared],
  };
  const second = {
    testResults: [file('b.test.ts', 'passed', 'passed'), file('c.test.ts', 'passed')],
  };
  expect(outcomeOf(first, second)).toEqual({
    passed: 4,
    skipped: 0,
    failures: [],
    recovered: [
      { file: 'b.test.ts', test: 'test 0', why: 'expected 1 to be 2' },
      { file: 'c.test.ts', why: 'no database' },
    ],
  });
});

it('keeps a failure that comes again, or another of the same file', () => {
  const first = { testResults: [file('b.test.ts', 'failed', 'passed')] };
  const second = { testResults: [file('b.test.ts', 'passed', 'failed')] };
  expect(outcomeOf(first, second)).toEqual({
    passed: 1,
    skipped: 0,
    failures: [{ file: 'b.test.ts', test: 'test 1', why: 'expected 1 to be 2' }],
    recovered: [],
  });
  expect(outcomeOf(first, { testResults: [unprepared] }).failures).toHaveLength(1);
});
