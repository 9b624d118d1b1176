/** Answer of a call of the kind `grade`. */
import { verdicts } from '#domain/grade.ts';
import { JsonObject, nullable, oneOf } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

/** One check of a grade. */
export const GradeCheck = Type.Object({
  name: Type.String(),
  verdict: oneOf(verdicts),
  passed: Type.Boolean({ description: 'whether the verdict is pass' }),
  weight: Type.Optional(Type.Number({ description: 'weight in the score; absent: 1' })),
  expected: Type.Unknown(),
  found: Type.Unknown(),
  detail: Type.Unknown({ description: 'what prevented a pass, in words' }),
});

/** A row that differs from the state in which the task began. */
export const GradeChange = Type.Object({
  entity: Type.String({
    description: 'name of the entity; for a linked world: `<alias>.<entity>`',
  }),
  key: JsonObject,
  change: oneOf(['inserted', 'updated', 'deleted']),
  fields: Type.Record(
    Type.String(),
    Type.Object({
      before: Type.Optional(Type.Unknown()),
      after: Type.Optional(Type.Unknown()),
      cut: Type.Optional(
        Type.Boolean({
          description:
            'true if the values are long or deep: `before` and `after` are then cut texts of their JSON',
        }),
      ),
    }),
    {
      description:
        'fields that differ; if a field did not exist before or after, that member is absent',
    },
  ),
  omitted: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'names of further fields that differ; their values are left out because of their size',
    }),
  ),
  explainedBy: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'what explains the change: names of checks, and `changes.allow[n]`; absent in `unexplained`',
    }),
  ),
});
export type GradeChange = Static<typeof GradeChange>;

const Count = Type.Integer({ minimum: 0 });

const changes = {
  changes: Type.Object({
    inserted: Count,
    updated: Count,
    deleted: Count,
    unexplained: Type.Integer({
      minimum: 0,
      description: 'number of changed rows that no check explains and that are not allowed',
    }),
    rows: Type.Array(GradeChange, { description: 'a page of the unexplained rows' }),
    next: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: '`offset` of the next page; absent on the last page',
      }),
    ),
  }),
  unexplained: Type.Array(GradeChange, {
    description: 'a page of the changes that no check explains, with the unexplained fields',
  }),
};

/** Changed rows of a grade. */
export const GradeChanges = Type.Object(changes);
export type GradeChanges = Static<typeof GradeChanges>;

export const Grade = Type.Object({
  verdict: oneOf(
    verdicts,
    'fail if a check fails; otherwise unknown if a check could not be judged, or if the grader itself failed',
  ),
  passed: Type.Boolean({ description: 'whether the verdict is pass' }),
  score: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'share of the checks that passed, by weight; null if the verdict is unknown',
    }),
  ),
  checks: Type.Array(GradeCheck),
  error: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String(), details: Type.Optional(Type.Unknown()) },
      { description: 'why the grader could not judge the session' },
    ),
  ),
  changes: Type.Optional(GradeChanges.properties.changes),
  unexplained: Type.Optional(GradeChanges.properties.unexplained),
});
export type Grade = Static<typeof Grade>;
