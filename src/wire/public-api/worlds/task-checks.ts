/** Schema of a grader's checks in tasks, see `#language/checks.ts`. */

import { limits } from '#domain/limits.ts';
import { operators } from '#language/comparison.ts';
import { Type } from '../../type.ts';

const RowCount = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const Field = Type.String({ minLength: 1, maxLength: limits.nameChars });
const Fields = Type.Array(Field, { minItems: 1, maxItems: 100 });
const EntityName = Type.String({ minLength: 1, maxLength: limits.nameChars });
const CheckName = Type.String({ minLength: 1, maxLength: 200 });

const Where = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: limits.members,
  description: `conditions by field, or path to one: a value, a list of values one of which the field must have, or comparisons, as \`{"gt": 10}\`: ${operators.join(', ')}`,
});

const Related = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        entity: EntityName,
        where: Where,
        by: Type.Optional(
          Type.Array(Field, {
            minItems: 1,
            maxItems: 16,
            description:
              'the fields of the relationship, required if there are several relationships to the entity',
          }),
        ),
      },
      { additionalProperties: false, description },
    ),
  );

const judged = {
  name: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'description of the check; default: what the check requires',
    }),
  ),
  weight: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1_000,
      description: 'weight of the check in the score; default 1',
    }),
  ),
  before: Type.Optional({
    ...CheckName,
    description:
      'name of another check: the rows that this check finds must come before those that the other finds',
  }),
  after: Type.Optional({
    ...CheckName,
    description:
      'name of another check: the rows that this check finds must come after those that the other finds',
  }),
};

const RowsCheck = Type.Object(
  {
    ...judged,
    entity: EntityName,
    where: Where,
    count: Type.Optional(
      Type.Union(
        [
          RowCount,
          Type.Object(
            { min: Type.Optional(RowCount), max: Type.Optional(RowCount) },
            { additionalProperties: false },
          ),
        ],
        {
          description:
            'number of rows that must match: an exact number, or bounds; absent: at least one',
        },
      ),
    ),
    any: Related('at least one row that is related to the checked row must match'),
    all: Related('every row that is related to the checked row must match'),
    none: Related('no row that is related to the checked row may match'),
    changed: Type.Optional(Fields),
    unchanged: Type.Optional(Fields),
    increased_by: Type.Optional(
      Type.Record(Type.String(), Type.Number(), { minProperties: 1, maxProperties: 100 }),
    ),
  },
  { additionalProperties: false },
);

const AnswerCheck = Type.Object(
  {
    ...judged,
    kind: Type.Literal('answer'),
    equals: Type.Unknown({
      description: 'the expected answer, which the agent gives by a call of the kind answer',
    }),
    as: Type.Optional(
      Type.Literal('set', {
        description: 'a list of values; their order and repetitions do not matter',
      }),
    ),
    tolerance: Type.Optional(
      Type.Number({ minimum: 0, description: 'maximum difference by which a number may be off' }),
    ),
  },
  { additionalProperties: false },
);

export const GivenCheck = Type.Union([RowsCheck, AnswerCheck]);
