import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RedactPolicy, Row } from '../contract.ts';
import { redactionLack } from '../redaction-modes.ts';
import { redactRow, verifyRow } from './redact.ts';
import { createRedaction } from './redaction.ts';

const policy: RedactPolicy = {
  slug: 'crm',
  hash: ['email', 'a'],
  drop: ['ssn', 'b.*.c'],
  preserve: ['phone', 'tags'],
  round: { lat: 2 },
};

const digest = `sha256:${'0a'.repeat(32)}`;

const key = fc.constantFrom(
  'email',
  'a',
  'ssn',
  'b',
  'c',
  'phone',
  'tags',
  'lat',
  'x',
  '__proto__',
);
const { row } = fc.letrec<{ value: unknown; row: Row }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string({ maxLength: 8 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, digest, 1.25, 1.255),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('row'),
  ),
  row: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 5, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries)),
}));

/** Returns a row whose field has `levels` nested objects. */
const nested = (levels: number, inner: Row): Row => {
  let value = inner;
  for (let level = 0; level < levels; level += 1) value = { x: value };
  return value;
};

describe('a redaction', () => {
  const { applyPolicy, verifyPolicy, resolveValue } = createRedaction(policy);

  it('stores and accepts the same as `redact.ts`, for any row', () => {
    fc.assert(
      fc.property(row, (given) => {
        const before = JSON.stringify(given);
        const kept = applyPolicy(given);
        const expected = redactRow(policy, given).row;
        expect(JSON.stringify(kept)).toBe(JSON.stringify(expected));
        expect(JSON.stringify(given)).toBe(before);
        for (const one of [given, kept]) {
          expect(verifyPolicy(one)?.pointer).toBe(verifyRow(policy, one)[0]?.pointer);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('returns the row itself when nothing changes', () => {
    const plain = { id: 1, x: { y: ['z'] }, email: digest, lat: 59.12 };
    expect(applyPolicy(plain)).toBe(plain);
    expect(verifyPolicy(plain)).toBeUndefined();
  });

  it('redacts rows that nest deeper than the call stack allows', () => {
    const secret = 'ada@mail.example';
    const deep = nested(20_000, { email: secret });
    let kept = applyPolicy(deep);
    for (let level = 0; level < 20_000; level += 1) kept = kept.x as Row;
    expect(kept).toEqual(applyPolicy({ email: secret }));
    expect(verifyPolicy(deep)).toMatchObject({ field: 'x', policy: 'hash' });
  });

  it.each([
    [{ email: 'ada@mail.example' }, 'email', '/email', 'hash'],
    [{ email: [digest, 'ada@mail.example'] }, 'email', '/email/1', 'hash'],
    [{ x: [{ ssn: '1' }] }, 'x', '/x/0/ssn', 'drop'],
    [{ lat: 59.125 }, 'lat', '/lat', 'round:2'],
    [{ phone: { mobile: '5550100' } }, 'phone', '/phone/mobile', 'preserve'],
  ])(
    'reports for %j which field, place and policy is at fault, and quotes nothing',
    (given, field, pointer, of) => {
      const breach = verifyPolicy(given);
      expect(breach).toMatchObject({ field, pointer, policy: of });
      expect(breach?.detail).toContain('import with "redact": "apply", or store the redacted form');
      expect(JSON.stringify(breach)).not.toMatch(/ada@|5550100|59\.125/);
    },
  );

  it('returns the stored form of a plaintext', () => {
    const stored = applyPolicy({ email: 'ada@mail.example', id: 7 });
    expect(resolveValue(['email'], 'ada@mail.example')).toEqual({ value: stored.email });
    expect(resolveValue(['id'], 7)).toEqual({ value: 7 });
    expect(resolveValue(['ssn'], '1')).toBeUndefined();
  });
});

it('a redaction without a policy changes no row', () => {
  const { applyPolicy, verifyPolicy, resolveValue } = createRedaction(null);
  const given = { email: 'ada@mail.example' };
  expect(applyPolicy(given)).toBe(given);
  expect(verifyPolicy(given)).toBeUndefined();
  expect(resolveValue(['email'], 'x')).toEqual({ value: 'x' });
});

it('rows of a world without a connector.toml cannot be redacted', () => {
  expect(redactionLack({ api: null }, 'apply')).toContain('no connector.toml');
  expect(redactionLack({ api: null }, 'refuse')).toContain('no connector.toml');
  expect(redactionLack({ api: null }, 'off')).toBeUndefined();
});
