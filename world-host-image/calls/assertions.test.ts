import { expect, it } from 'vitest';
import { buildSnapshot } from '#store/snapshot.ts';
import { openWorldStore } from '#store/world-store.ts';
import { sampleContract, sampleRows } from '#test/support/sample-contract.ts';
import { openLedger } from '../ledger/ledger.ts';
import { checkExpectation, type Expectation } from './assertions.ts';

const contract = sampleContract();
const store = openWorldStore({ contract, snapshot: buildSnapshot(contract, sampleRows).bytes });
const ledger = openLedger();
const judge = (expectation: Expectation) => checkExpectation({ store, ledger }, expectation, 2);

it('passes when enough rows match, or exactly as many as asked', () => {
  expect(judge({ entity: 'issues', where: { state: 'open' } })).toMatchObject({
    name: 'check 3',
    passed: true,
    detail: null,
  });
  expect(judge({ entity: 'issues', where: { state: 'open' }, count: 2 }).passed).toBe(true);
  expect(judge({ entity: 'issues', where: { number: [2, 7] }, count: 1 }).passed).toBe(true);
  expect(judge({ entity: 'issues', where: { state: 'gone' }, count: 0 }).passed).toBe(true);
  for (const path of ['profile.email', '/profile/email']) {
    expect(judge({ entity: 'users', where: { [path]: 'ann@example.test' } }).passed).toBe(true);
  }
});

it('says what was expected, what was found, and which condition is in the way', () => {
  expect(judge({ name: 'closed', entity: 'issues', where: { id: 10, state: 'closed' } })).toEqual({
    name: 'closed',
    passed: false,
    expected: 'at least 1 row of issues where id is 10, state is "closed"',
    found: '0 rows',
    detail: 'in a row that meets the other conditions, id is 12; in another, state is "open"',
  });
  expect(judge({ entity: 'issues', where: { id: 99, repo: 'none' } }).detail).toBe(
    'no row of issues comes close',
  );
  expect(judge({ entity: 'issues', where: { state: 'open' }, count: 1 })).toMatchObject({
    passed: false,
    expected: 'exactly 1 row of issues where state is "open"',
    found: '2 rows',
    detail: null,
  });
});

it('judges the request ledger, too', () => {
  expect(judge({ entity: 'svc_requests', where: { via: 'api' }, count: 0 }).passed).toBe(true);
});
