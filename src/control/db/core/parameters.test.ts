import { describe, expect, it } from 'vitest';
import { keysOf, readParameters, rowsOf, valuesOf } from './parameters.ts';

describe('named parameters of a statement', () => {
  it('are numbered in order of appearance, each once', () => {
    const read = readParameters('update s set state = :state where id = :id and :state <> old');
    expect(read).toEqual({
      text: 'update s set state = $1 where id = $2 and $1 <> old',
      names: ['state', 'id'],
    });
  });

  it.each([
    ['a cast', 'select :seed::bigint, x::text', 'select $1::bigint, x::text'],
    ['a quoted time', "select :seed, '12:30', ':id'", "select $1, '12:30', ':id'"],
    ['a slice', 'select :seed, list[2:last]', 'select $1, list[2:last]'],
  ])('are not confused with %s', (_, text, numbered) => {
    expect(readParameters(text)).toEqual({ text: numbered, names: ['seed'] });
  });

  it('cannot be mixed with numbered ones', () => {
    expect(() => readParameters('select :id, $2')).toThrow('names them, too');
  });

  it('leave a text with numbered parameters unchanged', () => {
    expect(readParameters('select $1')).toEqual({ text: 'select $1', names: [] });
  });

  it('take their values by name, null included', () => {
    const statement = { name: 'find', names: ['id', 'host'] };
    expect(valuesOf(statement, { host: null, id: 'ses-1', more: 1 })).toEqual(['ses-1', null]);
  });

  it('cause an error if one of them has no value', () => {
    const statement = { name: 'find', names: ['id', 'host'] };
    const given = { id: 'ses-1', host: undefined };
    expect(() => valuesOf(statement, given)).toThrow('the statement find lacks :host');
  });
});

describe('rowsOf', () => {
  it('hides the lengths of arrays from the planner, each in a subquery of its own', () => {
    expect(rowsOf(':ids::text[],\n  :counts::int[]')).toBe(
      'unnest((select :ids::text[]), (select :counts::int[]))',
    );
  });
});

describe('keysOf', () => {
  it('also hides from the planner that its limit does not exclude any row', () => {
    expect(keysOf(':ids::text[]')).toBe(
      '(select * from unnest((select :ids::text[])) limit (select 1000000))',
    );
  });
});
