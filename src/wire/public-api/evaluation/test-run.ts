/** Request and answer schemas of test runs of worlds. */

import { runOrigins, runOutcomes, runStates } from '#domain/run.ts';
import { Id, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
  description: 'number of tests: in total, and by outcome',
});

const outcome = nullable(
  oneOf(
    runOutcomes,
    'passed: all tests passed; failed: not all tests passed; error: the tests could not be run',
  ),
);

/** Latest test run of a version. */
export const LatestTests = Type.Object(
  { runId: Type.String(), state: oneOf(runStates), outcome, summary: nullable(Counts) },
  { description: 'the latest test run of the version; null: there is none' },
);
export type LatestTests = Static<typeof LatestTests>;

/** A test run in a list. */
export const TestRunView = Type.Object({
  runId: Type.String(),
  slug: Type.String(),
  versionId: Type.String(),
  number: Type.Integer({ minimum: 1, description: 'number of the version' }),
  origin: oneOf(runOrigins, 'trigger of the run'),
  author: nullable(Type.String({ description: 'public key of the caller that started the run' })),
  state: oneOf(runStates),
  outcome,
  summary: nullable(Counts),
  error: nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'why the tests could not be run' },
    ),
  ),
  sessionId: nullable(Type.String({ description: 'the session on which the tests are run' })),
  queuedAt: Timestamp,
  startedAt: nullable(Timestamp),
  finishedAt: nullable(Timestamp),
});
export type TestRunView = Static<typeof TestRunView>;

/** A test run with its report. */
export const TestRunDetail = Type.Interface([TestRunView], {
  report: Type.Unknown({
    description: 'the report; null until the run is finished, after an error, and for old runs',
  }),
});
export type TestRunDetail = Static<typeof TestRunDetail>;

export const RunTestsBody = Type.Object(
  {
    wait: Type.Optional(
      Type.Boolean({
        description:
          'whether the answer is held until the run is finished, for 55 s at most; default true',
      }),
    ),
    origin: Type.Optional(
      oneOf(['client', 'api'], 'kind of the client that starts the run; default api'),
    ),
  },
  { additionalProperties: false },
);
export type RunTestsBody = Static<typeof RunTestsBody>;

export const RunParams = Type.Object({ slug: Type.String({ maxLength: 140 }), runId: Id });
