/** Members of a grader about changes that its checks do not require. */
import { limits } from '#domain/limits.ts';
import { type Static, Type } from '../../type.ts';

/** Changes that are allowed beside those that the checks require. */
export const Allowance = Type.Object(
  {
    entity: Type.String({ minLength: 1, maxLength: 256 }),
    fields: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.nameChars }), {
        minItems: 1,
        maxItems: limits.checks,
        description:
          'updates of these fields, or paths to them, are allowed; absent: all changes, also rows that come or go',
      }),
    ),
    where: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: limits.members,
        description:
          'of which rows, as in a check: as they are now, or were where they are gone; absent: of all',
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
          'whether a change that no check and nothing in `allow` explains fails; default false',
      }),
    ),
    allow: Type.Optional(Type.Array(Allowance, { maxItems: limits.checks })),
  },
  { additionalProperties: false },
);
export type GraderChanges = Static<typeof GraderChanges>;
