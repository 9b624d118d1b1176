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

describe('null where the schema has none', () => {
  it('means absent, at every level that the schema describes', () => {
    const given = { name: null, kind: null, items: [{ id: null }, { id: 'x' }] };
    expect(withoutNulls(schema, given)).toEqual({ items: [{}, { id: 'x' }] });
  });

  it('stays where it is a value, is within one, or nobody knows what it is', () => {
    const given = { comment: null, input: { name: null }, other: null, __other: { name: null } };
    expect(withoutNulls(schema, given)).toEqual(given);
    expect(withoutNulls(schema, null)).toBeNull();
    expect(withoutNulls(schema, 'text')).toBe('text');
  });
});
