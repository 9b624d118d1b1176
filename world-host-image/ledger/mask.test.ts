import { describe, expect, it } from 'vitest';
import { maskText, noSecrets, type Secrets, showText, showValue } from './mask.ts';

const show = (value: unknown, maxChars = 1_000, secrets: Secrets = noSecrets) =>
  JSON.parse(showValue(value, maxChars, secrets));

it('maskText masks secrets in JSON text, even if the text is cut off', () => {
  const text = JSON.stringify({ token: 'a"b', title: 'my token: abc', nested: { password: 'x' } });
  expect(JSON.parse(maskText(text))).toEqual({
    token: '***',
    title: 'my token: abc',
    nested: { password: '***' },
  });
  expect(maskText('[{"secret":"abc')).toBe('[{"secret":"***"');
  const names = new Set(['signs_with']);
  expect(maskText('{"Signs_With":"abc","note":"x', names)).toBe('{"Signs_With":"***","note":"x');
});

it('maskText masks secrets in forms that could not be parsed', () => {
  const form = 'grant_type=x&client_secret=a%20b&refresh_token=abc&title=token';
  const masked = 'grant_type=x&client_secret=***&refresh_token=***&title=token';
  expect(maskText(form)).toBe(masked);
  expect(maskText('password=abc')).toBe('password=***');
  const broken = '{"note": "no token = here", "a": 1';
  expect(maskText(broken)).toBe(broken);
});

describe('a value in the ledger', () => {
  it('is unchanged except for its secrets', () => {
    const value = { a: [1, true, null, 'x', {}], b: { c: 'ü"\\', __proto__: null } };
    expect(show(value)).toEqual(value);
    for (const plain of [null, 0, '', 'text', false, []]) expect(show(plain)).toEqual(plain);
    expect(show(undefined)).toBeNull();
    expect(
      show({ secret: '', cookie: ['a=1', 'b=2'], Token: { value: 'kept' }, token: 7 }),
    ).toEqual({
      secret: '',
      cookie: ['***', '***'],
      Token: { value: 'kept' },
      token: 7,
    });
  });

  it.each([
    'x-api-key',
    'secret_key',
    'AccessKey',
    'signing-key',
    'client_secret',
    'config[secret]',
    'refresh_token',
  ])('has no value in a member with a name like %s', (name) => {
    expect(show({ [name]: 'abc', [`${name}_id`]: 'k-1', key: 'k' })).toEqual({
      [name]: '***',
      [`${name}_id`]: 'k-1',
      key: 'k',
    });
    expect(maskText(`${name}=abc&b=c`)).toBe(`${name}=***&b=c`);
  });

  it('contains neither the secrets that the world declares nor those that the host issued', () => {
    const secrets = {
      names: new Set(['x-key', 'signs_with']),
      values: ['st-1234'],
      openings: ['oa_'],
    };
    expect(show(['oa_b-4, oa_', { oa_5: '(oa_6)' }], 500, secrets)).toEqual([
      '***, ***',
      { '***': '(***)' },
    ]);
    expect(show({ 'X-Key': 'a', signs_with: 'b', note: 'st-1234 is mine' }, 500, secrets)).toEqual({
      'X-Key': '***',
      signs_with: '***',
      note: '*** is mine',
    });
    const long = { note: `st-1234${'x'.repeat(900)}`, password: 'abc' };
    const { truncated, start } = show(long, 100, secrets);
    expect(truncated).toBe(true);
    expect(start).toMatch(/^\{"note":"\*\*\*x+$/);
  });

  it('is cut to its beginning if it is too long or nested too deep', () => {
    const many = Array.from({ length: 500_000 }, () => 1);
    const readFurther = () => expect.unreachable('read further than is shown');
    Object.defineProperty(many, 1_000, { get: readFurther });
    expect(show(many, 200)).toEqual({ truncated: true, start: expect.stringMatching(/^\[1,1/) });
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(show(deep).truncated).toBe(true);
    const wide = Object.fromEntries(many.slice(0, 1_000).map((_, n) => [`field ${n}`, 'x']));
    expect(JSON.stringify(show(wide, 400)).length).toBeLessThan(400);
  });

  it('is the same if it is already JSON text', () => {
    const secrets = { names: new Set(['signs_with']), values: ['st-1234'], openings: ['oa_'] };
    const values = [
      { id: 1, title: 'a "quoted" one', list: [1, [], {}] },
      { access_token: 'abc' },
      { Signs_With: 'abc' },
      { note: 'st-1234 is mine' },
      { note: 'oa_5 is mine' },
      { text: 'x'.repeat(300) },
      Array.from({ length: 100 }, () => ({ a: 1 })),
      JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`),
      null,
    ];
    for (const value of values) {
      expect(showText(JSON.stringify(value), 250, secrets)).toBe(showValue(value, 250, secrets));
    }
    // `showValue` counts a number as longer than its text. At two fifths of the limit, both functions keep the list.
    const numbers = Array.from({ length: 49 }, () => 1);
    expect(showText(JSON.stringify(numbers), 250, secrets)).toBe(showValue(numbers, 250, secrets));
    const escaped = '{"pass\\u0077ord":"abc"}';
    expect(showText(escaped, 250, secrets)).toBe('{"password":"***"}');
  });
});
