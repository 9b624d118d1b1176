import { describe, expect, it } from 'vitest';
import { sampleContract } from '#test/support/worlds/sample-contract.ts';
import type { GivenCheck } from '../checks.ts';
import { createCheckChecks } from './grader-checks.ts';

const faultsOf = createCheckChecks(sampleContract());
const said = (...checks: GivenCheck[]): string[] =>
  faultsOf(checks).map(({ path, message }) => `${path.join('.')}: ${message}`);

const issue = { entity: 'issues', where: { id: 10 } };

describe('checks of a grader', () => {
  it.each<[string, GivenCheck, string]>([
    [
      'an unknown entity',
      { entity: 'wikis', where: {} },
      '0.entity: the world has no entity "wikis"',
    ],
    [
      'an unknown field',
      { ...issue, where: { status: 1 } },
      '0.where.status: issues has no field "status"',
    ],
    [
      'an invalid regular expression',
      { ...issue, where: { title: { matches: '(' } } },
      '0.where.title: issues.title: "matches" "(": ',
    ],
    [
      'a pattern for a field that is never a text',
      { ...issue, where: { number: { matches: '1' } } },
      '0.where.number: issues.number is integer, so "matches" "1" is never true',
    ],
    [
      'a related entity',
      { ...issue, any: { entity: 'wikis', where: {} } },
      '0.any.entity: the world has no entity "wikis"',
    ],
    [
      'entities without a relationship',
      { entity: 'users', where: {}, any: { entity: 'svc_requests', where: {} } },
      '0.any.entity: svc_requests, the request ledger, has no relationships',
    ],
    [
      'an unknown relationship',
      { ...issue, any: { entity: 'users', where: {}, by: ['owner'] } },
      '0.any.by: issues and users have no relationship by ["owner"]; they have ["assignee"]',
    ],
    [
      'a condition on related rows',
      { ...issue, none: { entity: 'users', where: { age: 1 } } },
      '0.none.where.age: users has no field "age"',
    ],
    ['a changed field', { ...issue, changed: ['status'] }, '0.changed.0: issues has no field'],
    [
      'a path as a changed field',
      { entity: 'users', where: {}, changed: ['profile.email'] },
      '0.changed.0: "profile.email" is a value inside a field; name the top-level field',
    ],
    [
      'an increase of a text',
      { ...issue, increased_by: { title: 1 } },
      '0.increased_by.title: issues.title is string, so it cannot increase by a number',
    ],
    [
      'a change of the ledger',
      { entity: 'svc_requests', where: {}, unchanged: ['via'] },
      '0.unchanged.0: entries of svc_requests, the request ledger, never change',
    ],
    ['an empty range', { ...issue, count: {} }, '0.count: count: requires min, max or both'],
    [
      'a set that is no list',
      { kind: 'answer', as: 'set', equals: 1 },
      '0.equals: equals: must be a list, because the answer is compared as a set',
    ],
    [
      'a tolerance of a text',
      { kind: 'answer', equals: 'a', tolerance: 1 },
      '0.tolerance: tolerance: is allowed only if equals is a number',
    ],
    [
      'an order by an unknown check',
      { ...issue, after: 'paid' },
      '0.after: after: there is no check named "paid"',
    ],
  ])('are refused with their number, field and place: %s', (_, check, message) => {
    expect(said(check)).toEqual([expect.stringContaining(message)]);
  });

  it('are refused if their order has a cycle, or if they name a check ambiguously', () => {
    expect(said({ ...issue, name: 'a', after: 'b' }, { ...issue, name: 'b', after: 'a' })).toEqual([
      '0.after: after: "a" would have to come before itself',
    ]);
    const twins = [
      { ...issue, name: 'a' },
      { ...issue, name: 'a' },
    ];
    expect(said(...twins, { ...issue, before: 'a' })).toEqual([
      '2.before: before: there are two checks named "a"',
    ]);
    expect(said({ ...issue, name: 'a', before: 'a' })).toEqual([
      '0.before: before: a check cannot come before or after itself',
    ]);
  });

  it('are accepted if they are valid', () => {
    expect(
      said(
        { ...issue, name: 'closed', changed: ['state'], unchanged: ['title'] },
        { ...issue, any: { entity: 'users', where: { login: 'ann' }, by: ['assignee'] } },
        { ...issue, increased_by: { number: -2 }, count: { min: 1, max: 2 }, after: 'closed' },
        { kind: 'answer', equals: [1, 2], as: 'set', after: 'closed' },
        { entity: 'issues', where: { title: { matches: '^a+$', ne: 'aa' } }, count: 0 },
      ),
    ).toEqual([]);
  });
});
