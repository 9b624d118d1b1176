import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RedactPolicy, Row } from '../contract.ts';
import { fieldPolicy, redactLookup, redactRow, verifyRow } from './redact.ts';

const policyOf = (more: Partial<RedactPolicy>): RedactPolicy => ({
  slug: 'board',
  hash: [],
  drop: [],
  preserve: [],
  round: {},
  ...more,
});

/** Returns the digest as the specification defines it. */
const sha256 = (value: string, slug = 'board'): string =>
  `sha256:${createHash('sha256').update(`${slug}:${value}`, 'utf8').digest('hex')}`;

const applied = (more: Partial<RedactPolicy>, row: Row): Row => redactRow(policyOf(more), row).row;

describe('redactRow', () => {
  it('hashes the plaintext exactly as given, salted with the slug', () => {
    for (const text of ['ada@mail.example', ' Ada ', 'ADA', '', 'Zoë 名前 👩‍🚀']) {
      expect(applied({ hash: ['email'] }, { email: text })).toEqual({ email: sha256(text) });
    }
    const elsewhere = applied({ slug: 'other', hash: ['email'] }, { email: 'ada' });
    expect(elsewhere).toEqual({ email: sha256('ada', 'other') });
    expect(elsewhere).not.toEqual({ email: sha256('ada') });
    expect(sha256('ada')).toBe(
      'sha256:3f3d5f9eacca5a7c100d1050b2b562a6dfc2ef9cc9aeb548bf46a14fbe7a3f6d',
    );
  });

  it('hashes numbers and booleans as JSON writes them, and does not change null and digests', () => {
    const row = { a: 7, b: -0.5, c: true, d: null, e: sha256('x'), f: -0, g: 1e21 };
    expect(applied({ hash: Object.keys(row) }, row)).toEqual({
      a: sha256('7'),
      b: sha256('-0.5'),
      c: sha256('true'),
      d: null,
      e: sha256('x'),
      f: sha256('0'),
      g: sha256('1e+21'),
    });
  });

  it('matches a bare name at any depth, and a path only at its place', () => {
    const row = { login: 'a', author: { login: 'b', mail: 'c' }, seen: [{ by: [{ login: 'd' }] }] };
    expect(applied({ hash: ['login'] }, row)).toEqual({
      login: sha256('a'),
      author: { login: sha256('b'), mail: 'c' },
      seen: [{ by: [{ login: sha256('d') }] }],
    });
    expect(applied({ drop: ['author.login'] }, row)).toEqual({ ...row, author: { mail: 'c' } });
    expect(applied({ drop: ['author.name', 'login.author', 'a.b.c'] }, row)).toEqual(row);
  });

  it('matches each item of a list only with `*`', () => {
    const row = { items: [{ mail: 'a' }, { mail: 'b' }, 'x'], grid: [[{ mail: 'c' }]] };
    expect(applied({ drop: ['items.*.mail', 'grid.*.*.mail'] }, row)).toEqual({
      items: [{}, {}, 'x'],
      grid: [[{}]],
    });
    expect(applied({ drop: ['items.1.mail', 'items.mail', 'grid.0'] }, row)).toEqual(row);
    expect(applied({ drop: ['items.*', '*.mail'] }, row)).toEqual({ ...row, items: [] });
    expect(applied({ drop: ['by.*.mail'] }, { by: { ada: { mail: 'a' } } })).toEqual({
      by: { ada: { mail: 'a' } },
    });
  });

  it('applies hash and preserve to the items of lists, but not to objects, and rounds no list', () => {
    const row = { tags: ['a', ['b', [7]], { name: 'c', tags: 'd' }, null], at: [1.25, 2.75] };
    expect(applied({ hash: ['tags'], round: { at: 0 } }, row)).toEqual({
      tags: [sha256('a'), [sha256('b'), [sha256('7')]], { name: 'c', tags: sha256('d') }, null],
      at: [1.25, 2.75],
    });
    const preserved = applied({ preserve: ['tags'] }, { tags: ['AB-12', ['cd'], 17, true] });
    expect(JSON.stringify(preserved)).toMatch(
      /^\{"tags":\["[A-Z]{2}-\d\d",\["[a-z]{2}"\],\d\d,true\]\}$/,
    );
  });

  it('applies drop rather than hash, hash rather than preserve, and preserve rather than round', () => {
    const row = { of: { n: 1.25 }, n: 1.25 };
    const round = { n: 1 };
    expect(applied({ round, preserve: ['of.n'] }, row).of).not.toEqual({ n: 1.3 });
    expect(applied({ preserve: ['n'], hash: ['of.n'] }, row).of).toEqual({ n: sha256('1.25') });
    expect(applied({ hash: ['n'], preserve: ['of.n'] }, row).of).toEqual({ n: sha256('1.25') });
    expect(applied({ hash: ['n'], drop: ['of.n'] }, row)).toEqual({ of: {}, n: sha256('1.25') });
    expect(applied({ drop: ['n'], hash: ['of.n'] }, row)).toEqual({ of: {} });
    const lists = { n: ['a', 'b'] };
    expect(applied({ preserve: ['n'], hash: ['n.*'] }, lists)).toEqual({
      n: [sha256('a'), sha256('b')],
    });
    expect(applied({ hash: ['n'], drop: ['n.*'] }, lists)).toEqual({ n: [] });
  });

  it('rounds numbers and nothing else', () => {
    const row = { lat: 51.500_75, of: { lat: -0.04 }, text: { lat: '51.50075' } };
    expect(applied({ round: { lat: 1 } }, row)).toEqual({
      lat: 51.5,
      of: { lat: 0 },
      text: { lat: '51.50075' },
    });
  });

  it('counts the values that changed', () => {
    const row = {
      email: ['a', 'b', null, sha256('c')],
      gone: { of: [1, 2, 3] },
      code: 'ABCDEFGHIJKL',
      lat: 1.25,
      lng: 1.2,
      name: 'Ada',
    };
    const policy = {
      hash: ['email'],
      drop: ['gone'],
      preserve: ['code'],
      round: { lat: 1, lng: 1 },
    };
    expect(redactRow(policyOf(policy), row).counts).toEqual({
      hashed: 2,
      dropped: 1,
      preserved: 1,
      rounded: 1,
      digests: 1,
    });
    expect(redactRow(policyOf({}), row)).toEqual({
      row,
      counts: { hashed: 0, dropped: 0, preserved: 0, rounded: 0, digests: 0 },
    });
  });

  it('treats keys that objects inherit like any other', () => {
    const row = JSON.parse('{"__proto__":{"mail":"a","x":1},"constructor":"b","toString":{}}');
    const policy = policyOf({ hash: ['mail', 'constructor'], drop: ['hasOwnProperty'] });
    const { row: redacted } = redactRow(policy, row);
    expect(JSON.stringify(redacted)).toBe(
      `{"__proto__":{"mail":"${sha256('a')}","x":1},"constructor":"${sha256('b')}","toString":{}}`,
    );
    expect(Object.getPrototypeOf(redacted)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, 'mail')).toBe(false);
    expect(verifyRow(policy, row).map(({ pointer }) => pointer)).toEqual([
      '/constructor',
      '/__proto__/mail',
    ]);
    const inherited = policyOf({ hash: ['__proto__', 'of.__proto__.*'], round: { toString: 1 } });
    expect(redactRow(inherited, { a: 1 }).row).toEqual({ a: 1 });
    expect(fieldPolicy(inherited, ['constructor'])).toBeUndefined();
  });

  it('handles rows of any depth, and takes linear time for long rows', () => {
    const policy = policyOf({ hash: ['mail'], drop: ['a.b'], preserve: ['text'] });
    let deep: unknown = 'a';
    for (let level = 0; level < 100_000; level += 1) deep = level % 2 ? [deep] : { mail: deep };
    const { row, counts } = redactRow(policy, { deep });
    expect(counts.hashed).toBe(1);
    expect(verifyRow(policy, row)).toEqual([]);
    expect(verifyRow(policy, { deep })).toHaveLength(1);
    // If the time were more than linear, this would not end before the test's deadline.
    const long = { text: 'x'.repeat(4_000_000), mail: 'y'.repeat(4_000_000), list: deep };
    const wide = { items: Array.from({ length: 100_000 }, (_, id) => ({ id, name: 'n' })) };
    expect(redactRow(policy, { ...long, ...wide }).counts).toMatchObject({ preserved: 1 });
  });
});

describe('verifyRow', () => {
  const policy = policyOf({
    hash: ['email', 'tags'],
    drop: ['ssn', 'items.*.note'],
    preserve: ['code'],
    round: { lat: 2 },
  });

  it('accepts digests, lists of digests, absent fields, numbers with few enough decimals, and any text or number in a preserved field', () => {
    const digest = sha256('x');
    const row = {
      email: digest,
      tags: [digest, [digest], null, { email: digest, name: null }],
      code: 'AB',
      lat: 1.25,
    };
    expect(verifyRow(policy, row)).toEqual([]);
    expect(
      verifyRow(policy, { email: null, lat: null, items: [{}], of: { lat: '1.2345' } }),
    ).toEqual([]);
  });

  it('names the place, the field and the policy, but never the value', () => {
    const row = {
      email: 'ada@mail.example',
      ssn: null,
      tags: [sha256('x'), 'plain'],
      items: [{ id: 1 }, { note: 'n' }],
      of: { 'a/b': { lat: 1.255, email: ['sha256:ABC', 5] } },
    };
    const violations = verifyRow(policy, row);
    expect(violations.map(({ pointer, field, mode }) => [pointer, field, mode])).toEqual([
      ['/email', 'email', 'hash'],
      ['/ssn', 'ssn', 'drop'],
      ['/tags/1', 'tags', 'hash'],
      ['/items/1/note', 'items', 'drop'],
      ['/of/a~1b/lat', 'of', 'round'],
      ['/of/a~1b/email/0', 'of', 'hash'],
      ['/of/a~1b/email/1', 'of', 'hash'],
    ]);
    expect([...new Set(violations.map(({ detail }) => detail))]).toEqual([
      'is plaintext, but the policy requires its digest, sha256:<64 hex>',
      'is present, but the policy drops the field',
      'has more than 2 decimals, but the policy rounds it',
    ]);
  });

  it('refuses plaintext in an object of a hashed field, unless a rule of its own redacts it', () => {
    const tagged = { name: 'ada', email: sha256('x'), code: 'AB', ids: [7, null], lat: 1.25 };
    const row = { tags: [tagged, { of: { a: {} } }], email: { of: { active: true } } };
    const inObject =
      'is plaintext in an object of a hashed field; objects are not redacted as a whole, so name their fields in [redact]';
    expect(verifyRow(policy, row)).toEqual(
      [
        ['/tags/0/name', 'tags'],
        ['/email/of/active', 'email'],
        ['/tags/0/ids/0', 'tags'],
      ].map(([pointer, field]) => ({ pointer, field, mode: 'hash', detail: inObject })),
    );
    const named = { ...policy, hash: [...policy.hash, 'name', 'ids', 'active'] };
    expect(verifyRow(named, redactRow(named, row).row)).toEqual([]);
  });

  it('refuses plaintext in an object of a preserved field, and in an object inside a hashed field', () => {
    const preserving = policyOf({ preserve: ['name', 'address'] });
    const row = {
      name: { first: 'Anna', last: null },
      address: ['Main 1', [{ street: 'Main 1', name: 'A', at: [5] }]],
    };
    const inObject =
      'is plaintext in an object of a preserved field; objects are not redacted as a whole, so name their fields in [redact]';
    expect(verifyRow(preserving, row)).toEqual(
      [
        ['/name/first', 'name'],
        ['/address/1/0/street', 'address'],
        ['/address/1/0/at/0', 'address'],
      ].map(([pointer, field]) => ({ pointer, field, mode: 'preserve', detail: inObject })),
    );
    const named = policyOf({ preserve: ['name', 'address', 'first', 'street', 'at'] });
    expect(verifyRow(named, redactRow(named, row).row)).toEqual([]);
    const both = policyOf({ hash: ['email'], preserve: ['name'] });
    expect(verifyRow(both, { email: { name: { secret: 'x' } } })).toMatchObject([
      { pointer: '/email/name/secret', mode: 'preserve' },
    ]);
  });

  it('accepts only a whole digest in lower case as a digest', () => {
    const digest = sha256('x');
    for (const text of [digest.toUpperCase(), ` ${digest}`, `${digest}\n`, digest.slice(0, -1)]) {
      expect(verifyRow(policy, { email: text })).toHaveLength(1);
    }
  });

  it('stops at 20 violations', () => {
    expect(verifyRow(policy, { tags: Array.from({ length: 10_000 }, String) })).toHaveLength(20);
  });
});

describe('fieldPolicy', () => {
  const policy = policyOf({
    hash: ['email', 'tags'],
    drop: ['profile'],
    preserve: ['items.*.code', 'names.*'],
    round: { lat: 2, email: 1 },
  });

  it.each([
    [['email'], { mode: 'hash' }],
    [['any', 'where', 'email'], { mode: 'hash' }],
    [['tags', '0'], { mode: 'hash' }],
    [['tags', '*', '*'], { mode: 'hash' }],
    [['tags', '*', 'name'], undefined],
    [['profile', 'email'], { mode: 'drop' }],
    [['items', '*', 'code'], { mode: 'preserve' }],
    [['items', '3', 'code'], { mode: 'preserve' }],
    [['items', 'code'], undefined],
    [['names'], undefined],
    [['names', '*'], { mode: 'preserve' }],
    [['of', 'lat'], { mode: 'round', decimals: 2 }],
    [['name'], undefined],
    [[], undefined],
  ])('returns for %j: %j', (path, expected) => {
    expect(fieldPolicy(policy, path)).toEqual(expected);
  });
});

describe('redactLookup', () => {
  const policy = policyOf({
    hash: ['email'],
    drop: ['ssn'],
    preserve: ['author.code'],
    round: { lat: 1 },
  });

  it('returns the value with which the stored row is found', () => {
    const row = { email: 'ada', author: { code: 'AB-1' }, lat: 1.26, id: 7, ids: [101, 102] };
    const { row: stored } = redactRow(policy, row);
    expect(redactLookup(policy, ['email'], 'ada')).toEqual({ value: stored.email });
    expect(redactLookup(policy, ['email'], stored.email)).toEqual({ value: stored.email });
    expect({ code: redactLookup(policy, ['author', 'code'], 'AB-1')?.value }).toEqual(
      stored.author,
    );
    expect(redactLookup(policy, ['lat'], 1.26)).toEqual({ value: stored.lat });
    expect(redactLookup(policy, ['id'], 7)).toEqual({ value: 7 });
  });

  it('converts each of a list of plaintexts', () => {
    expect(redactLookup(policy, ['email'], ['a', ['b'], null])).toEqual({
      value: [sha256('a'), [sha256('b')], null],
    });
    expect(redactLookup(policy, ['lat'], [1.26, 2])).toEqual({ value: [1.3, 2] });
    expect(redactLookup(policy, ['author'], { email: 'a', ssn: 1 })).toEqual({
      value: { email: sha256('a') },
    });
  });

  it('matches nothing in a dropped field', () => {
    expect(redactLookup(policy, ['ssn'], '1')).toBeUndefined();
    expect(redactLookup(policy, ['ssn', 'last'], null)).toBeUndefined();
  });
});
