import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hideCredentials } from './credentials.ts';
import { newId } from './id.ts';

const mac = randomBytes(32).toString('base64url');
const encode = (text: string): string =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');

const encodeSome = (text: string): string =>
  [...text].map((one, index) => (index % 3 === 0 ? encode(one) : one)).join('');

const tokens: [string, string][] = [
  ['the token of a session', `st-${mac}`],
  ['a secret key', `sk-${mac}`],
  ['the token of a link', `lt-${mac}`],
  ["a host's token", `hst-01kaz4x0pg8q2m5v7n3c1d9e6f.${mac}`],
];

describe('hideCredentials', () => {
  it.each(tokens)('masks %s: alone, in JSON, and in URLs', (_, secret) => {
    expect(hideCredentials(secret)).toBe('***');
    expect(hideCredentials(JSON.stringify({ a: [`Bearer ${secret}`], b: secret }))).toBe(
      '{"a":["Bearer ***"],"b":"***"}',
    );
    expect(hideCredentials(`/notes?token=${secret}&x=1`)).toBe('/notes?token=***&x=1');
    expect(hideCredentials(`/notes?token=${encode(secret)}&x=1`)).toBe('/notes?token=***&x=1');
    const twice = encode(secret).replaceAll('%', '%25');
    expect(hideCredentials(`/notes?token=${twice}&x=%20`)).toBe('/notes?token=***&x=%20');
  });

  it.each(tokens)('masks %s in every spelling, and nothing around it', (_, secret) => {
    const json = (value: unknown): string => JSON.stringify(value);
    for (const [before, after] of [
      ...['\n', '\t', '\r', '\b', '\f', '"', '\\', '/', '\u0001', '\u001b[1;32m', '='].map(
        (one) => [one, one.startsWith('\u001b') ? '\u001b[0m' : '\n'] as const,
      ),
      ['line\n', '\nmore'],
      ['Bearer ', '. And on.'],
    ] as const) {
      const text = `${before}${secret}${after}`;
      const masked = `${before}***${after}`;
      expect(hideCredentials(text)).toBe(masked);
      expect(hideCredentials(json(text))).toBe(json(masked));
      expect(hideCredentials(json(json(text)))).toBe(json(json(masked)));
      expect(hideCredentials(json({ 50: '100 %', text }))).toBe(
        json({ 50: '100 %', text: masked }),
      );
      const address = encodeURIComponent(text);
      expect(hideCredentials(address)).toBe(address.replace(secret, '***'));
      const again = encodeURIComponent(encodeURIComponent(json(text)));
      expect(hideCredentials(again)).toBe(again.replace(secret, '***'));
    }
    for (const spell of [encode, (text: string) => encode(text).toUpperCase(), encodeSome]) {
      expect(hideCredentials(`/a/${spell(secret)}/b?x=%20${spell(secret)}%20y`)).toBe(
        '/a/***/b?x=%20***%20y',
      );
    }
  });

  it.each(tokens)('masks %s as a name or password of Basic authentication', (_, secret) => {
    for (const pair of [`pk-1:${secret}`, `${secret}:`, `a name:${secret}`]) {
      const sent = Buffer.from(pair).toString('base64');
      expect(hideCredentials(`{"authorization":"Basic ${sent}"}`)).toBe(
        '{"authorization":"Basic ***"}',
      );
      expect(hideCredentials(`bASic ${sent}`)).toBe('bASic ***');
      expect(hideCredentials(`a=basic%20${encodeURIComponent(sent)}&b`)).toBe('a=basic%20***&b');
    }
    const other = `Basic ${Buffer.from('a-user:a password of their own, and long').toString('base64')}`;
    expect(hideCredentials(other)).toBe(other);
  });

  it('does not change text without a secret', () => {
    const words =
      'st sk lt pt pg hst best test default backend service account for 2024 eu-west-1'.split(' ');
    const pick = (): string => words[randomInt(words.length)] ?? '';
    const makers = [
      () => Array.from({ length: 12 }, pick).join('-'),
      () => `st-${Array.from({ length: 30 }, pick).join('-').slice(0, 43)}`,
      () => Array.from({ length: 12 }, pick).join(' '),
      () => encodeURIComponent(Array.from({ length: 12 }, pick).join(' – ')),
      () => `https://x.test/${encode(`st-${pick()}`)}?q=%20${pick()}`,
      () => randomBytes(32).toString('hex'),
      () => `sha256-${randomBytes(32).toString('base64')}`,
      () => `${pick()}${randomBytes(300).toString('base64url')}`,
      () => `st-${randomBytes(31).toString('base64url')}`,
      () => `st-${randomBytes(33).toString('base64url')}`,
      () => randomUUID(),
      () => newId('hst'),
      () => newId('ses'),
    ];
    for (let round = 0; round < 2_000; round += 1) {
      const parts = Array.from({ length: 4 }, () => makers[randomInt(makers.length)]?.() ?? '');
      for (const text of [parts.join('\n'), `${parts.join(' ')} 100 %`, JSON.stringify(parts)]) {
        expect(hideCredentials(text)).toBe(text);
      }
    }
    for (const text of [
      '100 % best-practices-for-writing-maintainable-javascript-applications-2024',
      '5%20default-backend-service-account-for-production-cluster-eu-west-1',
      'st-petersburg-florida-what-to-see-and-do-on-2-days',
    ]) {
      expect(hideCredentials(text)).toBe(text);
    }
  });

  // If the time grew with the square of the length, this would take hours.
  it.each(['st-', '%73', '%25', '25', 'hst-', 'Basic ', '%20st-', '\\n', 'st-a%2Dsk-', 'a'])(
    'takes linear time for a text that repeats %j',
    (part) => {
      const text = `%${part.repeat(2_000_000 / part.length)}`;
      expect(hideCredentials(text) === text).toBe(true);
    },
  );

  it('does not change text that only resembles a secret', () => {
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
