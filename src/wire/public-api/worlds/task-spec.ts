/**
 * Spec of a task: the instruction, the initial rows, and the grading of the final state. Stored tasks, inline tasks
 * and assignments to hosts all have this form.
 */

import { limits } from '#domain/limits.ts';
import { redactionModes } from '#language/redaction-modes.ts';
import { solutionLimits } from '#language/solution.ts';
import { seedModes } from '#language/task.ts';
import { JsonObject, oneOf } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { GraderChanges } from './grader-changes.ts';
import { SolutionSpec } from './solution.ts';
import { GivenCheck } from './task-checks.ts';

/** Selects how the world's `[redact]` policy treats rows before they are stored. */
export const Redact = oneOf(
  redactionModes,
  'apply: the redaction policy of the world is applied to the rows; refuse: rows with plaintext in a redacted field are refused; default off',
);

/** Rows by entity. */
export const SeedRows = Type.Record(
  Type.String(),
  Type.Array(JsonObject, { maxItems: limits.seedRows }),
  { maxProperties: limits.members },
);

/** Spec of a task: the instruction, the initial rows, and the grading of the final state. */
export const TaskSpec = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    instruction: Type.Optional(Type.String({ maxLength: 100_000 })),
    tools: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.nameChars }), {
        maxItems: limits.taskTools,
        description: 'tools of the world that the agent is given; absent: all of them',
      }),
    ),
    seed: Type.Optional(
      Type.Object(
        {
          mode: Type.Optional(oneOf(seedModes)),
          redact: Type.Optional(Redact),
          rows: SeedRows,
        },
        { additionalProperties: false },
      ),
    ),
    grader: Type.Optional(
      Type.Union([
        Type.Object(
          {
            kind: Type.Literal('assertions'),
            checks: Type.Array(GivenCheck, { minItems: 1, maxItems: limits.checks }),
            changes: Type.Optional(GraderChanges),
          },
          { additionalProperties: false },
        ),
        Type.Object(
          {
            kind: Type.Literal('python'),
            source: Type.String({ maxLength: 200_000 }),
            changes: Type.Optional(GraderChanges),
          },
          { additionalProperties: false },
        ),
        Type.Object(
          {
            kind: Type.Literal('sql'),
            source: Type.String({
              maxLength: 200_000,
              description:
                'one SQL query over the entities; each result row is a check, with the columns passed (0 or 1) and name',
            }),
            changes: Type.Optional(GraderChanges),
          },
          { additionalProperties: false },
        ),
      ]),
    ),
    metadata: Type.Optional(JsonObject),
    solution: Type.Optional(SolutionSpec),
    alternatives: Type.Optional(
      Type.Array(SolutionSpec, {
        maxItems: solutionLimits.alternatives,
        description: 'alternative solutions that are equally right',
      }),
    ),
  },
  { additionalProperties: false },
);
export type TaskSpec = Static<typeof TaskSpec>;
