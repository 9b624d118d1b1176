import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { isoOf, readTime } from './times.ts';

const usual = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;

describe('a timestamp of the server', () => {
  const textOf = (at: Date, fraction: string): string => {
    const [day = '', time = ''] = at.toISOString().replace(/^\+0?/, '').split('T');
    return `${day} ${time.slice(0, 8)}${fraction}`;
  };
  const fraction = fc.constantFrom(
    '',
    '.1',
    '.12',
    '.123',
    '.1234',
    '.123456',
    '.999999',
    '.000001',
  );
  const zone = fc.constantFrom('+00', '+02', '-08', '+05:30', '+00:19:32', '+00 BC');
  const date = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('+012026-01-01T00:00:00Z'),
    noInvalidDate: true,
  });

  it('is parsed as the driver would parse it, whatever its zone and fraction', () => {
    fc.assert(
      fc.property(date, fraction, zone, (at, fraction, zone) => {
        const text = `${textOf(at, fraction)}${zone}`;
        expect(readTime(text)).toEqual(usual(text));
      }),
    );
  });

  it.each(['', ' BC'])('is converted to ISO 8601 as text%s', (era) => {
    fc.assert(
      fc.property(date, fraction, (at, fraction) => {
        const text = textOf(at, fraction);
        expect(isoOf(`${text}${era}`)).toBe(usual(`${text}+00${era}`).toISOString());
      }),
    );
  });

  it.each(['infinity', '-infinity'])(
    'is parsed as the driver would parse it if it is %s',
    (text) => {
      expect(readTime(text)).toEqual(usual(text));
    },
  );
});
