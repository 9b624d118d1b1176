import { describe, expect, it } from 'vitest';
import { assignPath, parseFieldPath, readFieldPath, valueAtPath } from './field-path.ts';
import { languageLimits } from './limits.ts';

describe('a field path', () => {
  it.each([
    ['state', ['state']],
    ['user.login', ['user', 'login']],
    ['/user/login', ['user', 'login']],
    ['labels.0.name', ['labels', '0', 'name']],
    ['/a.b', ['a.b']],
    ['/a~1b/c~0d', ['a/b', 'c~d']],
  ])('is read from %s', (written, path) => {
    expect(parseFieldPath(written)).toEqual(path);
    expect(readFieldPath(written)).toEqual(path);
  });

  it.each(['', '/', 'a..b', '/a//b', `${'a.'.repeat(languageLimits.depth)}a`])(
    'is not read from %j, which becomes a field that no row has',
    (written) => {
      expect(parseFieldPath(written)).toBeUndefined();
      expect(valueAtPath({ a: { b: 1 } }, readFieldPath(written))).toBeUndefined();
    },
  );

  it('finds own fields of a row, in objects and lists, and no inherited properties', () => {
    const row = { user: { login: 'ada' }, labels: [{ name: 'bug' }] };
    expect(valueAtPath(row, ['user', 'login'])).toBe('ada');
    expect(valueAtPath(row, ['labels', '0', 'name'])).toBe('bug');
    expect(valueAtPath(row, ['user', 'constructor'])).toBeUndefined();
    expect(valueAtPath(row, ['user', 'login', 'length'])).toBeUndefined();
    expect(valueAtPath(row, ['labels', 'length'])).toBeUndefined();
    expect(valueAtPath(row, ['labels', '00'])).toBeUndefined();
  });

  it('sets a value and creates missing objects, but never writes into a prototype', () => {
    const row = { owner: { id: 1 } };
    assignPath(row, ['owner', 'name'], 'ann');
    assignPath(row, ['a', 'b'], 1);
    assignPath(row, ['__proto__', 'polluted'], true);
    expect(row).toEqual({ owner: { id: 1, name: 'ann' }, a: { b: 1 } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
