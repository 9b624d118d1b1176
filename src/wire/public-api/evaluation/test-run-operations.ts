/** Operations on test runs of worlds. */

import { getOperation, operation } from '../../operation.ts';
import { IdempotencyHeaders, WaitSeconds } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { PageOnly, pageOf } from '../lists.ts';
import { WorldParams } from '../worlds/version.ts';
import { RunParams, RunTestsBody, TestRunDetail, TestRunView } from './test-run.ts';

export const listTestRuns = getOperation({
  id: 'listTestRuns',
  summary: 'The test runs of a world, or of one of its versions, newest first',
  path: '/worlds/{slug}/tests',
  access: 'read',
  tools: [{ name: 'list_world_test_runs' }],
  params: WorldParams,
  query: PageOnly,
  answer: pageOf(TestRunView),
});

export const runTests = operation({
  id: 'runTests',
  summary: 'Run the tests of a world on its head version, or on the version that is named',
  method: 'POST',
  path: '/worlds/{slug}/tests',
  access: 'write',
  tools: [{ name: 'run_world_tests' }],
  params: WorldParams,
  headers: IdempotencyHeaders,
  body: Type.Optional(RunTestsBody),
  answers: { 200: TestRunDetail, 202: TestRunDetail },
  refusals: { 429: 'Too many runs of the project are queued; `limit` is the maximum.' },
});

export const getTestRun = getOperation({
  id: 'getTestRun',
  summary: 'One test run of a world, with its report',
  path: '/worlds/{slug}/tests/{runId}',
  access: 'read',
  tools: [{ name: 'get_world_test_run' }],
  params: RunParams,
  query: Type.Object({ wait: WaitSeconds }, { additionalProperties: false }),
  answer: TestRunDetail,
});
