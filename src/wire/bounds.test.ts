/**
 * Checks that every text, list and object in a request has a bound of its own. Clients, and hosts that run user code,
 * may send anything. The size limit of the body alone is not a sufficient bound.
 */
import { describe, expect, it } from 'vitest';
import * as adminApi from './admin-api/operations.ts';
import * as gatewayApi from './gateway-api/operations.ts';
import { LedgerEntry } from './host-api/ledger.ts';
import * as hostApi from './host-api/operations.ts';
import { operationsOf } from './operation.ts';
import * as poolApi from './pool-api/operations.ts';
import * as publicApi from './public-api/operations.ts';

type Node = Record<string, unknown>;

const apis = { publicApi, hostApi, poolApi, gatewayApi, adminApi };

const operations = Object.entries(apis).flatMap(([api, module]) =>
  operationsOf(module).map((shape) => [`${api}.${shape.id}`, shape] as const),
);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns true if a pattern contains no unbounded repetition. */
const isFixed = (pattern: unknown): boolean =>
  typeof pattern === 'string' && /^\^.*\$$/.test(pattern) && !/[*+]|\{\d+,\}/.test(pattern);

const lacks = (node: Node): string | undefined => {
  if ('enum' in node || 'const' in node) return undefined;
  if (node.type === 'string' && !('maxLength' in node) && !isFixed(node.pattern)) {
    return 'maxLength';
  }
  if (node.type === 'array' && !('maxItems' in node)) return 'maxItems';
  const isRecord = 'patternProperties' in node;
  if (isRecord && !('maxProperties' in node)) return 'maxProperties';
  return undefined;
};

/** Returns pointers of schemas without a bound, each with the missing keyword. */
const unboundedIn = (schema: unknown, place: string): string[] => {
  if (!isNode(schema)) return [];
  const missing = lacks(schema);
  const own = missing === undefined ? [] : [`${place}: ${missing}`];
  const { properties = {}, patternProperties = {}, items, anyOf = [] } = schema;
  const inner: [string, unknown][] = [
    ...Object.entries(properties as Node),
    ...Object.entries(patternProperties as Node),
    ...(items === undefined ? [] : [['items', items] as [string, unknown]]),
    ...(anyOf as unknown[]).map((branch, index) => [String(index), branch] as [string, unknown]),
  ];
  return [...own, ...inner.flatMap(([name, part]) => unboundedIn(part, `${place}/${name}`))];
};

describe('every input', () => {
  it.each(operations)('has a bound in each of its parts: %s', (_, shape) => {
    const { params, query, headers, body } = shape;
    for (const [part, schema] of Object.entries({ params, query, headers, body })) {
      expect(unboundedIn(schema, part)).toEqual([]);
    }
  });

  it('has a bound in each entry of a ledger, which is sent as text', () => {
    expect(unboundedIn(LedgerEntry, '')).toEqual([]);
  });

  it('is reported with each of its parts that has no bound', () => {
    const schema = {
      type: 'object',
      properties: {
        text: { type: 'string' },
        list: { type: 'array', items: { type: 'string', pattern: '^a+$' }, maxItems: 1 },
        record: { type: 'object', patternProperties: { '^.*$': {} } },
        fine: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
      },
    };
    expect(unboundedIn(schema, '')).toEqual([
      '/text: maxLength',
      '/list/items: maxLength',
      '/record: maxProperties',
    ]);
  });
});
