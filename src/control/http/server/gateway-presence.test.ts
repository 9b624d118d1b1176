import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Queryable } from '../../db/core/database.ts';
import { mostRefused } from '../../db/sessions/gateways.ts';
import { createGatewayPresence } from './gateway-presence.ts';

it('the recorder of gateway addresses records only a few refused callers, but every gateway', () => {
  const noted: unknown[] = [];
  const db = { query: async (_: unknown, values: unknown[]) => noted.push(values) };
  let now = 0;
  const note = createGatewayPresence(
    db as unknown as Queryable,
    pino({ level: 'silent' }),
    () => now,
  );
  for (let last = 0; last < 1_000; last += 1) note(`2001:db8::${last}`, 'refused');
  expect(noted.length).toBe(mostRefused);
  note('10.0.0.1', 'seen');
  note('10.0.0.1', 'seen');
  note('2001:db8::0', 'refused');
  expect(noted.slice(mostRefused)).toEqual([['10.0.0.1', true]]);
  now = 10_000;
  note('2001:db8::ffff', 'refused');
  note('10.0.0.1', 'seen');
  expect(noted.slice(mostRefused + 1)).toEqual([
    ['2001:db8::ffff', false],
    ['10.0.0.1', true],
  ]);
});
