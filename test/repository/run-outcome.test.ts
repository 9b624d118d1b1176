import { expect, it } from 'vitest';
import { outcomeOf, type RunReport } from '../support/run/run-outcome.ts';

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

it('the outcome of a test run counts tests, and a file that failed to start as one failure', () => {
  const report = {
    testResults: [
      file('a.test.ts', 'passed', 'skipped', 'todo'),
      file('b.test.ts', 'failed', 'passed'),
      unprepared,
    ],
  };
  expect(outcomeOf(report)).toEqual({
    passed: 2,
    skipped: 2,
    failures: [
      { file: 'b.test.ts', test: 'test 0', why: 'expected 1 to be 2' },
      { file: 'c.test.ts', why: 'no database' },
    ],
  });
});
