import TypeBox from 'typebox';
import { describe, expect, it } from 'vitest';
import { Type } from './type.ts';

/** Builds schemas with every builder, with and without options, alone and nested in the other builders. */
const schemas = (T: typeof Type) => [
  T.Object({}),
  T.Object(
    {
      text: T.String({ minLength: 1, description: 'a text' }),
      whole: T.Optional(T.Integer({ minimum: 0 })),
      real: T.Number(),
      yes: T.Boolean(),
      list: T.Array(T.Literal('a'), { maxItems: 3 }),
      nullable: T.Union([T.Literal(1), T.Null()], { description: 'one or none' }),
      record: T.Optional(T.Record(T.String(), T.Unknown())),
      unsafe: T.Optional(T.Unsafe<'x'>({ type: 'string', enum: ['x'] })),
    },
    { additionalProperties: false },
  ),
  T.Object({ all: T.Optional(T.String()) }),
  T.Interface([T.Object({ a: T.String(), b: T.Optional(T.Null()) })], { c: T.Integer() }),
  T.Record(T.String(), T.Integer(), { description: 'counts' }),
  T.Unknown({ description: 'anything' }),
  T.Null(),
];

describe('Type', () => {
  it('builds the same schemas as typebox', () => {
    expect(JSON.stringify(schemas(Type))).toBe(
      JSON.stringify(schemas(TypeBox as unknown as typeof Type)),
    );
  });

  it('marks optional properties as typebox does', () => {
    for (const T of [Type, TypeBox as unknown as typeof Type]) {
      expect(T.IsOptional(T.Optional(T.String()))).toBe(true);
      expect(T.IsOptional(T.String())).toBe(false);
      expect(TypeBox.IsOptional(T.Optional(T.String()))).toBe(true);
    }
  });
});
