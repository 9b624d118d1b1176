/** Request and answer schemas of test runs of worlds. */

import { runOrigins, runOutcomes, runStates } from '#domain/run.ts';
import { Id, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
  description: 'how many tests there were, in all and by their outcome',
});

const outcome = nullable(
  oneOf(
    runOutcomes,
    'passed: all did; failed: not all did; error: the run could not be carried out',
  ),
);

/** Latest test run of a version. */
export const LatestTests = Type.Object(
  { runId: Type.String(), state: oneOf(runStates), outcome, summary: nullable(Counts) },
  { description: 'the run of its tests that was asked for last; null: none was' },
);
export type LatestTests = Static<typeof LatestTests>;

/** A test run in a list. */
export const TestRunView = Type.Object({
  runId: Type.String(),
  slug: Type.String(),
  versionId: Type.String(),
  number: Type.Integer({ minimum: 1, description: 'of the version' }),
  origin: oneOf(runOrigins, 'what asked for it'),
  author: nullable(Type.String({ description: 'public key of who asked for it' })),
  state: oneOf(runStates),
  outcome,
  summary: nullable(Counts),
  error: nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'why it could not be carried out' },
    ),
  ),
  sessionId: nullable(Type.String({ description: 'the session that it is carried out on' })),
  queuedAt: Timestamp,
  startedAt: nullable(Timestamp),
  finishedAt: nullable(Timestamp),
});
export type TestRunView = Static<typeof TestRunView>;

/** A test run with its report. */
export const TestRunDetail = Type.Interface([TestRunView], {
  report: Type.Unknown({
    description: 'null until it is finished, of an error, and of runs that are long past',
  }),
});
export type TestRunDetail = Static<typeof TestRunDetail>;

export const RunTestsBody = Type.Object(
  {
    wait: Type.Optional(
      Type.Boolean({
        description:
          'true, the default: the answer is held until the run is finished, for 55 s at most',
      }),
    ),
    origin: Type.Optional(oneOf(['client', 'api'], 'what asks; default api')),
  },
  { additionalProperties: false },
);
export type RunTestsBody = Static<typeof RunTestsBody>;

export const RunParams = Type.Object({ slug: Type.String({ maxLength: 140 }), runId: Id });
