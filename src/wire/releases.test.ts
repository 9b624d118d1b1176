/**
 * Two releases of the programs run side by side during a roll-out. An older program must accept a member that a newer
 * one adds to a message. So no schema of a message to the host API or the pool API is closed. Answers need no such
 * rule: the client does not validate them.
 */
import { describe, expect, it } from 'vitest';
import * as hostApi from './host-api/operations.ts';
import { operationsOf } from './operation.ts';
import * as poolApi from './pool-api/operations.ts';

/** Returns JSON pointers of the schema's closed objects, which forbid additional members. */
const closedIn = (schema: unknown, place: string): string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const { additionalProperties } = schema as { additionalProperties?: unknown };
  const own = additionalProperties === false ? [place] : [];
  const inner = Object.entries(schema).flatMap(([name, part]) =>
    closedIn(part, `${place}/${name}`),
  );
  return [...own, ...inner];
};

const between = [...operationsOf(hostApi), ...operationsOf(poolApi)];

describe('members that a newer release adds', () => {
  it.each(between.map((shape) => [shape.id, shape] as const))(
    'are accepted in a %s',
    (_, shape) => {
      const { params, query, headers, body } = shape;
      expect(closedIn({ params, query, headers, body }, '')).toEqual([]);
    },
  );

  it('are reported when a schema refuses them', () => {
    const query = { type: 'object', properties: { a: { additionalProperties: false } } };
    expect(closedIn({ query }, '')).toEqual(['/query/properties/a']);
  });
});
