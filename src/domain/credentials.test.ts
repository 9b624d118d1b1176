import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hideCredentials } from './credentials.ts';

const mac = randomBytes(32).toString('base64url');
const encode = (text: string): string =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');

describe('hideCredentials', () => {
  it.each([
    ['the token of a session', `st-${mac}`],
    ['a secret key', `sk-${mac}`],
    ['the token of a link', `lt-${mac}`],
    ["a host's token", `hst-01kaz4x0pg8q2m5v7n3c1d9e6f.${mac}`],
  ])('hides %s, alone, in JSON and in addresses', (_, secret) => {
    expect(hideCredentials(secret)).toBe('***');
    expect(hideCredentials(JSON.stringify({ a: [`Bearer ${secret}`], b: secret }))).toBe(
      '{"a":["Bearer ***"],"b":"***"}',
    );
    expect(hideCredentials(`/notes?token=${secret}&x=1`)).toBe('/notes?token=***&x=1');
    expect(hideCredentials(`/notes?token=${encode(secret)}&x=1`)).toBe('/notes?token=***&x=1');
    const twice = encode(secret).replaceAll('%', '%25');
    expect(hideCredentials(`/notes?token=${twice}&x=%20`)).toBe('/notes?token=***&x=%20');
  });

  it('leaves alone what only looks like one', () => {
    for (const text of [
      'st-1',
      'ghost-town',
      `xst-${mac}`,
      `st-${mac}a`,
      '100 % of sk-',
      '%73t-a',
    ]) {
      expect(hideCredentials(text)).toBe(text);
    }
  });
});
