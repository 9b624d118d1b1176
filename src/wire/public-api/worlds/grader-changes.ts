/** Members of a grader about changes that its checks do not require. */
import { limits } from '#domain/limits.ts';
import { type Static, Type } from '../../type.ts';

/** Changes that are allowed in addition to those that the checks require. */
export const Allowance = Type.Object(
  {
    entity: Type.String({ minLength: 1, maxLength: 256 }),
    fields: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.nameChars }), {
        minItems: 1,
        maxItems: limits.checks,
        description:
          'fields, or paths to fields, whose updates are allowed; absent: all changes are allowed, including inserted and deleted rows',
      }),
    ),
    where: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: limits.members,
        description:
          'condition for the rows, as in a check; it is applied to a row as it is now, or as it was if it was deleted; absent: all rows',
      }),
    ),
  },
  { additionalProperties: false },
);

export const GraderChanges = Type.Object(
  {
    closed: Type.Optional(
      Type.Boolean({
        description:
          'whether the grade fails if a change is explained neither by a check nor by `allow`; default false',
      }),
    ),
    allow: Type.Optional(Type.Array(Allowance, { maxItems: limits.checks })),
  },
  { additionalProperties: false },
);
export type GraderChanges = Static<typeof GraderChanges>;
