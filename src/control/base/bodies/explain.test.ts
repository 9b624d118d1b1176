import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import * as hostApi from '#wire/host-api/operations.ts';
import { operationsOf } from '#wire/operation.ts';
import * as poolApi from '#wire/pool-api/operations.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import { createChance } from '../../../../test/support/random/chance.ts';
import { makeBody } from '../../../../test/sweep/bodies/bodies.ts';
import { explain, mostProblems } from './explain.ts';

const shapes = [publicApi, hostApi, poolApi]
  .flatMap(operationsOf)
  .filter(({ body }) => body !== undefined);

const parse = (bytes: Buffer): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(bytes.toString()) };
  } catch {
    return undefined;
  }
};

describe('explain', () => {
  it('finds problems in exactly the bodies that the check refuses, for every operation', () => {
    const chance = createChance(1);
    const ajv = new Ajv({ strict: true });
    const seen = { valid: 0, invalid: 0 };
    for (const { id, body } of shapes) {
      const isValid = ajv.compile(body as object);
      for (let count = 0; count < 150; count += 1) {
        const { bytes, oddity } = makeBody(body, 3_000, chance);
        const parsed = parse(bytes);
        if (parsed === undefined) continue;
        const verdict = isValid(parsed.value);
        const problems = explain(body, parsed.value);
        const text = `${id} with ${oddity}: ${bytes.toString().slice(0, 300)}`;
        expect([problems.length === 0, text]).toEqual([verdict, text]);
        expect(problems.length).toBeLessThanOrEqual(mostProblems);
        seen[verdict ? 'valid' : 'invalid'] += 1;
      }
    }
    expect(seen.valid).toBeGreaterThan(100);
    expect(seen.invalid).toBeGreaterThan(100);
  });

  it('stops once it has found the maximum number of problems', () => {
    const schema = { type: 'array', maxItems: 1_000_000, items: { type: 'string' } };
    let looked = 0;
    const items = new Proxy(new Array(1_000_000).fill(0), {
      get(target, name, receiver) {
        if (/^\d+$/.test(String(name))) looked += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    expect(explain(schema, items)).toHaveLength(mostProblems);
    expect(looked).toBe(mostProblems);
    expect(explain({ ...schema, maxItems: 3 }, items)).toEqual([
      { path: [], message: 'must NOT have more than 3 items' },
    ]);
    expect(looked).toBe(mostProblems);
  });
});
