import { describe, expect, it } from 'vitest';
import type { RouteContract } from '#language/contract.ts';
import { sampleContract, sampleEntity } from '#test/support/worlds/sample-contract.ts';
import { sampleRoute } from '#test/support/worlds/sample-world.ts';
import { fieldTypes, hasField } from './field-types.ts';
import { filterAssignments, filtersOf, readText } from './filter-values.ts';
import { planOf } from './route-plan.ts';

const entity = sampleEntity('things', {
  properties: {
    id: { type: 'integer' },
    size: { type: 'number' },
    code: { type: ['string', 'integer'] },
    on: { type: 'boolean' },
    kind: { enum: ['a', 'b'] },
    owner: { $ref: '#/$defs/Owner' },
    tags: { type: 'array', items: { type: 'integer' } },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
  },
});
const contract = sampleContract({
  definitions: {
    Owner: {
      type: 'object',
      properties: { id: { type: 'integer' }, boss: { $ref: '#/$defs/Owner' } },
    },
  },
  entities: [entity],
});

const types = (...path: string[]) => [...fieldTypes(contract.definitions, entity, path)];

/** Returns the plan of a route over the entity with this filter. */
const planWith = (...filter: RouteContract['filter']) =>
  planOf({ ...contract, api: null }, sampleRoute('GET', '/things', { entity: 'things', filter }));

const filtersFor = (path: string[], value: string | string[]) =>
  filtersOf(planWith({ argument: 'x', path, match: 'equals' }), { x: value }).map(
    (filter) => filter.value,
  );

describe('the types of a field', () => {
  it('are found through references, alternatives and cycles in its schema', () => {
    expect(types('id')).toEqual(['integer']);
    expect(types('owner', 'id')).toEqual(['integer']);
    expect(types('owner', 'boss', 'boss', 'id')).toEqual(['integer']);
    expect(types('maybe')).toEqual(['integer', 'null']);
    expect(types('kind')).toEqual(['string']);
    expect(types('tags', '0')).toEqual(['integer']);
    expect(types('nope')).toEqual([]);
    const names = ['id', 'maybe', 'nope', '0', 'constructor'];
    const found = names.filter((name) => hasField(contract.definitions, entity, name));
    expect(found).toEqual(['id', 'maybe']);
  });
});

describe('arguments', () => {
  it('are converted to the types of their fields', () => {
    expect(filtersFor(['id'], '5')).toEqual([[5]]);
    expect(filtersFor(['id'], ['5', '6'])).toEqual([[5, 6]]);
    expect(filtersFor(['id'], '5.5')).toEqual([['5.5']]);
    expect(filtersFor(['size'], '5.5')).toEqual([[5.5]]);
    expect(filtersFor(['code'], '5')).toEqual([[5, '5']]);
    expect(filtersFor(['on'], 'true')).toEqual([[true]]);
    expect(filtersFor(['kind'], '5')).toEqual([['5']]);
    expect(filtersFor(['tags'], '5')).toEqual([[5]]);
    expect(filtersFor(['owner', 'id'], '7')).toEqual([[7]]);
    expect(readText(new Set(), '5')).toBe('5');
  });

  it('add no filter if they are missing', () => {
    const plan = planWith({ argument: 'y', path: ['id'], match: 'equals' });
    expect(filtersOf(plan, { x: '1' })).toEqual([]);
  });

  it('set the fields of a row that the request creates', () => {
    const plan = planWith(
      { argument: 'x', path: ['owner', 'id'], match: 'equals' },
      { argument: 'q', path: ['kind'], match: 'contains' },
    );
    expect(filterAssignments(plan, { x: '7', q: 'a' })).toEqual([
      { path: ['owner', 'id'], value: 7 },
    ]);
  });
});
