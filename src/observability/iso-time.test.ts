import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseBoundMs, parseTimeUs } from './iso-time.ts';

it('a time that toISOString wrote is read as Date reads it', () => {
  const min = new Date(Date.UTC(1970, 0, 1));
  const max = new Date(Date.UTC(2199, 11, 31, 23, 59, 59, 999));
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      expect(parseTimeUs(date.toISOString())).toBe(date.getTime() * 1_000);
    }),
    { numRuns: 2_000 },
  );
});

it('a time with any digits, even an invalid time, is read as Date.parse reads it', () => {
  const number = (most: number) =>
    fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'));
  const year = fc.constantFrom(
    '0000',
    '0001',
    '0012',
    '1969',
    '1970',
    '2000',
    '2024',
    '2100',
    '9999',
  );
  const time = fc
    .tuple(year, number(14), number(33), number(26), number(61), number(61), number(999))
    .map(
      ([year, month, day, hour, minute, second, ms]) =>
        `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms.padStart(3, '0')}Z`,
    );
  fc.assert(
    fc.property(time, (text) => {
      const ms = Date.parse(text);
      const bound = Math.min(Math.max(ms, -1), Date.UTC(2200, 0, 1));
      expect(parseBoundMs(text)).toBe(Number.isNaN(ms) ? undefined : bound);
    }),
    { numRuns: 20_000 },
  );
});

it.each([
  ['2026-03-01T12:34Z', 0],
  ['2026-03-01T12:34:56Z', 56_000_000],
  ['2026-03-01T12:34:56.7Z', 56_700_000],
  ['2026-03-01T12:34:56.789z', 56_789_000],
  ['2026-03-01T12:34:56.789123Z', 56_789_123],
  ['2026-03-01T12:34:56.7891239Z', 56_789_123],
  ['2026-03-01T12:34:56.789123456Z', 56_789_123],
  ['2026-03-01T14:34:56+02:00', 56_000_000],
  ['2026-03-01T14:34:56.789+0200', 56_789_000],
  ['2026-03-01T14:34:5.7890+02:0', undefined],
])('the time %s is read if it is valid', (text, us) => {
  const minute = Date.UTC(2026, 2, 1, 12, 34) * 1_000;
  expect(parseTimeUs(text)).toBe(us === undefined ? undefined : minute + us);
});

it.each([
  '2026-03-01',
  '2026-03-01T12:34:56.789',
  '2026-13-01T12:34:56.789Z',
  '2026-03-01T24:00:00.001Z',
  '2026-03-01T12:60:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2200-01-01T00:00:00.000Z',
  7,
  null,
])('the text %s is rejected as a time', (given) => {
  expect(parseTimeUs(given)).toBeUndefined();
});
