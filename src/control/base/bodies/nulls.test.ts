import { describe, expect, it } from 'vitest';
import { nullable, oneOf } from '#wire/schemas.ts';
import { Type } from '#wire/type.ts';
import { withoutNulls } from './nulls.ts';

const schema = Type.Object({
  name: Type.Optional(Type.String()),
  kind: Type.Optional(oneOf(['a', 'b'])),
  comment: Type.Optional(nullable(Type.String())),
  input: Type.Optional(Type.Unknown()),
  items: Type.Optional(Type.Array(Type.Object({ id: Type.Optional(Type.String()) }))),
}) as unknown as Record<string, unknown>;

describe('a null that the schema does not allow', () => {
  it('is removed at every level that the schema describes', () => {
    const given = { name: null, kind: null, items: [{ id: null }, { id: 'x' }] };
    expect(withoutNulls(schema, given)).toEqual({ items: [{}, { id: 'x' }] });
  });

  it('stays within values without a fixed schema, and in unknown members; nulls that the schema allows stay, too', () => {
    const given = { comment: null, input: { name: null }, other: null, __other: { name: null } };
    expect(withoutNulls(schema, given)).toEqual(given);
    expect(withoutNulls(schema, null)).toBeNull();
    expect(withoutNulls(schema, 'text')).toBe('text');
  });

  it('is removed from a union if every form that describes the member disallows it', () => {
    const union = Type.Union([
      Type.String(),
      Type.Object(
        { id: Type.String(), version: Type.Optional(Type.Integer()) },
        { additionalProperties: false },
      ),
      Type.Object(
        {
          instruction: Type.Optional(Type.String()),
          seed: Type.Optional(Type.Object({ rows: Type.Record(Type.String(), Type.Unknown()) })),
        },
        { additionalProperties: false },
      ),
    ]) as unknown as Record<string, unknown>;
    expect(withoutNulls(union, { id: 'a', version: null })).toEqual({ id: 'a' });
    const spec = { instruction: null, seed: { rows: { a: [{ b: null }], c: null } } };
    expect(withoutNulls(union, spec)).toEqual({ seed: spec.seed });
    expect(withoutNulls(union, { other: null })).toEqual({ other: null });
  });

  it('stays if one form of a union leaves its members free', () => {
    const free = Type.Union([
      Type.Object({ name: Type.Optional(Type.String()) }),
      Type.Record(Type.String(), Type.Unknown()),
    ]) as unknown as Record<string, unknown>;
    expect(withoutNulls(free, { name: null })).toEqual({ name: null });
    const open = Type.Union([
      Type.Object({ name: Type.Optional(Type.String()) }),
      Type.Object({ size: Type.Optional(Type.Integer()) }),
    ]) as unknown as Record<string, unknown>;
    expect(withoutNulls(open, { name: null })).toEqual({ name: null });
  });
});
