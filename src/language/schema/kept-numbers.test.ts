import { expect, it } from 'vitest';
import { createRowChecker } from '../rows.ts';
import { andKept } from './kept-numbers.ts';

const check = andKept(() => []);
const detail = 'is a number with more digits than are kept exactly; write it as a text';

it.each(['0', '-0', '0.1', '9007199254740991', '-9007199254740991', '1e21', '1e308', '5e-324'])(
  '%s is kept',
  (text) => {
    expect(check(JSON.parse(text))).toEqual([]);
  },
);

it.each(['9007199254740993', '-9007199254740992', '12345678901234567890', '1e400', '-1e400'])(
  '%s is not',
  (text) => {
    const value: unknown = JSON.parse(`{"a/b":[true,{"c":${text}}]}`);
    expect(check(value)).toEqual([{ pointer: '/a~1b/1/c', detail }]);
  },
);

it('a row with one is refused where it stands, unless it breaks its shape', () => {
  const schema = { type: 'object', properties: { id: { type: 'integer' }, a: { type: 'string' } } };
  const entity = { name: 'notes', schema, primaryKey: ['id'], unique: [], relationships: [] };
  const checker = createRowChecker({ definitions: {}, entities: [{ ...entity, columns: [] }] });
  const row = (text: string) => checker.check('notes', JSON.parse(text));
  expect(row('{"id":9007199254740993}')).toEqual([{ field: 'id', pointer: '/id', detail }]);
  expect(row('{"id":9007199254740993,"a":1}')).toMatchObject([{ pointer: '/a' }]);
});
