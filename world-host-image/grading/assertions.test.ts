import { expect, it } from 'vitest';
import type { GivenCheck } from '#language/checks.ts';
import type { Row } from '#language/contract.ts';
import { filtersOfConditions } from '#store/read/filter.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { openWorldStore } from '#store/world-store.ts';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { openLedger } from '../ledger/ledger.ts';
import { judgeChecks } from './assertions.ts';
import { createPause } from './pauses.ts';
import { createRowsBefore } from './state-before.ts';
import { createTimes } from './times.ts';

const contract = sampleContract();
const store = openWorldStore({ contract, snapshot: buildSnapshot(contract, sampleRows).bytes });
const ledger = openLedger();
store.mark('base');
store.mark('task');

const judgeAll = (checks: GivenCheck[], answer: { value: unknown } | null = null) =>
  judgeChecks(checks, {
    entities: contract.entities,
    store,
    ledger,
    before: createRowsBefore(store),
    times: createTimes(ledger, contract.entities),
    answer,
    pause: createPause(),
  });

const judge = async (check: GivenCheck, answer: { value: unknown } | null = null) => {
  const [result] = await judgeAll([check], answer);
  if (result === undefined) throw new Error('nothing was judged');
  return result;
};

it('an assertion passes if the given number of rows matches, or by default at least one', async () => {
  expect(await judge({ entity: 'issues', where: { state: 'open' } })).toMatchObject({
    name: 'issues with state "open"',
    verdict: 'pass',
    passed: true,
    detail: null,
  });
  expect((await judge({ entity: 'issues', where: { state: 'open' }, count: 2 })).passed).toBe(true);
  expect((await judge({ entity: 'issues', where: { number: [2, 7] }, count: 1 })).passed).toBe(
    true,
  );
  expect((await judge({ entity: 'issues', where: { state: 'gone' }, count: 0 })).passed).toBe(true);
  for (const path of ['profile.email', '/profile/email']) {
    expect((await judge({ entity: 'users', where: { [path]: 'ann@example.test' } })).passed).toBe(
      true,
    );
  }
});

it('a failed assertion reports what was expected, what was found, and which condition fails', async () => {
  expect(
    await judge({ name: 'closed', entity: 'issues', where: { id: 10, state: 'closed' } }),
  ).toEqual({
    name: 'closed',
    verdict: 'fail',
    passed: false,
    expected: 'at least 1 row of issues where id is 10, state is "closed"',
    found: '0 rows',
    detail: 'in a row that meets the other conditions, id is 12; in another, state is "open"',
  });
  expect((await judge({ entity: 'issues', where: { id: 99, repo: 'none' } })).detail).toBe(
    'no row of issues comes close',
  );
  expect(await judge({ entity: 'issues', where: { state: 'open' }, count: 1 })).toMatchObject({
    verdict: 'fail',
    passed: false,
    expected: 'exactly 1 row of issues where state is "open"',
    found: '2 rows',
    detail: null,
  });
});

it('an assertion can be about entries of the request ledger', async () => {
  expect((await judge({ entity: 'svc_requests', where: { via: 'api' }, count: 0 })).passed).toBe(
    true,
  );
});

it('an assertion compares only values of the same type, and treats a null field like a missing one', async () => {
  const count = (where: Row) => store.count('issues', filtersOfConditions('issues', where));
  const all = count({});
  const above = count({ number: { gt: 1 } });
  expect(above).toBeGreaterThan(0);
  expect(above + count({ number: { lte: 1 } })).toBe(all);
  expect(count({ number: { gte: 2, lt: 3 } })).toBe(count({ number: 2 }));
  expect(count({ number: { gt: '2' } })).toBe(0);
  expect(count({ state: { ne: 'open' } }) + count({ state: { eq: 'open' } })).toBe(all);
  expect(count({ state: { in: ['open', 'closed'] } })).toBe(count({ state: ['open', 'closed'] }));
  expect(count({ state: { gt: 'closed' } })).toBe(count({ state: 'open' }));
  expect(count({ state: { contains: 'PEN' } })).toBe(count({ state: 'open' }));
  expect(count({ id: { exists: true } })).toBe(all);
  expect(count({ id: { exists: false } })).toBe(0);
  const users = async (where: Row) => (await judge({ entity: 'users', where, count: 0 })).found;
  expect(await users({ 'profile.email': { ne: 'ann@example.test' } })).not.toBe(await users({}));
  expect(() => count({ number: { more: 2 } })).toThrow('"more" is no operator');
  expect(() => count({ number: { gt: null } })).toThrow('"gt" takes a number or a text');
});

it('an assertion can require a count within bounds, and its report states these bounds', async () => {
  const open = { entity: 'issues', where: { state: 'open', number: { gt: 0, lte: 9 } } };
  expect(await judge({ ...open, count: { min: 2, max: 3 } })).toMatchObject({
    verdict: 'pass',
    passed: true,
    expected:
      '2 to 3 rows of issues where state is "open", number is more than 0, number is at most 9',
  });
  expect(await judge({ ...open, count: { max: 1 } })).toMatchObject({
    verdict: 'fail',
    passed: false,
    expected: expect.stringMatching(/^at most 1 row of/),
  });
  expect(await judge({ ...open, count: { min: 3 }, weight: 2 })).toMatchObject({
    verdict: 'fail',
    passed: false,
    weight: 2,
    expected: expect.stringMatching(/^at least 3 rows of/),
  });
});
