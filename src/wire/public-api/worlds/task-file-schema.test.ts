import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { taskFileSchema } from './task-file-schema.ts';

const isValid = new Ajv2020({ strict: false }).compile(taskFileSchema());

const withCheck = (check: object) => ({
  $schema: './task.schema.json',
  instruction: 'Do it.',
  grader: {
    kind: 'assertions',
    checks: [check],
    changes: { closed: true, allow: [{ entity: 'orders', where: { id: { gte: 3 } } }] },
  },
});

describe('the schema of task files', () => {
  it.each([
    { name: 'paid', entity: 'orders', where: { id: 1, status: ['paid', 'sent'] }, weight: 3 },
    { entity: 'orders', where: { total: { gt: 10, lte: 20 }, note: { exists: false } }, count: 0 },
    { entity: 'orders', where: {}, any: { entity: 'lines', where: { sku: { matches: '^m' } } } },
    { entity: 'orders', where: { id: 1 }, changed: ['status'], increased_by: { total: 5 } },
    { entity: 'svc_requests', where: { via: 'api' }, after: 'paid' },
    { kind: 'answer', equals: [1, 2], as: 'set' },
  ])('accepts the check %j', (check) => {
    expect(isValid(withCheck(check))).toBe(true);
  });

  it.each([
    { entity: 'orders', where: { total: { above: 10 } } },
    { entity: 'orders', where: { total: { gt: true } } },
    { entity: 'orders', where: {}, any: { entity: 'lines', where: { sku: { matches: 5 } } } },
    { entity: 'orders', where: {}, increased: { total: 5 } },
    { kind: 'answer' },
  ])('rejects the check %j', (check) => {
    expect(isValid(withCheck(check))).toBe(false);
  });
});
