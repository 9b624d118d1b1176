import { expect, it } from 'vitest';
import { createRowChecker } from './checkers.ts';
import { andLossless, andTextsLossless, hasBrokenText } from './lossless-values.ts';

const check = andLossless(() => []);
const detail = 'is a number with more digits than can be stored exactly; write it as a text';

it.each(['0', '-0', '0.1', '9007199254740991', '-9007199254740991', '1e21', '1e308', '5e-324'])(
  'the number %s is lossless',
  (text) => {
    expect(check(JSON.parse(text))).toEqual([]);
  },
);

it.each(['9007199254740993', '-9007199254740992', '12345678901234567890', '1e400', '-1e400'])(
  'the number %s is not lossless',
  (text) => {
    const value: unknown = JSON.parse(`{"a/b":[true,{"c":${text}}]}`);
    expect(check(value)).toEqual([{ pointer: '/a~1b/1/c', detail }]);
  },
);

it.each(['"\\ud83d\\ude00"', '"\\\\ud800"', '"ü"'])('the text %s is lossless', (text) => {
  expect(check(JSON.parse(text))).toEqual([]);
  expect(hasBrokenText(JSON.parse(text))).toBe(false);
});

it('a lone surrogate is not lossless, in a text or a name', () => {
  const broken = 'contains half of a surrogate pair, which is no character';
  for (const text of ['\\ud800', '\\udc00', 'a\\ud83d', '\\ude00\\ud83d']) {
    const value: unknown = JSON.parse(`{"a":[{"b":"${text}"}]}`);
    expect(check(value)).toEqual([{ pointer: '/a/0/b', detail: broken }]);
    expect(andTextsLossless(() => [])(value)).toEqual([{ pointer: '/a/0/b', detail: broken }]);
    const named: unknown = JSON.parse(`{"a":{"${text}":1}}`);
    expect(check(named)).toEqual([{ pointer: '/a', detail: `has a name that ${broken}` }]);
  }
});

it('a row with a lone surrogate is refused with the place of the surrogate, unless it also violates its schema', () => {
  const schema = { type: 'object', properties: { id: { type: 'integer' }, a: { type: 'string' } } };
  const entity = { name: 'notes', schema, primaryKey: ['id'], unique: [], relationships: [] };
  const checker = createRowChecker({ definitions: {}, entities: [{ ...entity, columns: [] }] });
  const row = (text: string) => checker.check('notes', JSON.parse(text));
  expect(row('{"id":9007199254740993}')).toEqual([{ field: 'id', pointer: '/id', detail }]);
  expect(row('{"id":9007199254740993,"a":1}')).toMatchObject([{ pointer: '/a' }]);
});
