import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import type { AppError, FieldProblem } from '#domain/error.ts';
import { type OperationShape, operation, operationsOf } from '#wire/operation.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { checkOfBody } from '../../base/bodies/check.ts';
import { createValidator } from './validate.ts';

const fieldsOf = (validate: ReturnType<typeof createValidator>, parts: object): FieldProblem[] => {
  try {
    validate.whole({ params: {}, query: {}, headers: {}, ...parts }, []);
    return [];
  } catch (error) {
    return (error as AppError).fields;
  }
};

const checkOpen = checkOfBody(openSession.body);
const pathsOf = (body: unknown) => checkOpen(body).map(({ path }) => path.join('/'));

/**
 * Returns the list operation for an operation that reads one object. Its path is the same without the last argument.
 */
const listOf = ({ path }: OperationShape): OperationShape | undefined => {
  const parent = /^(.*)\/\{\w+\}$/.exec(path)?.[1];
  return operationsOf(publicApi).find((one) => one.method === 'GET' && one.path === parent);
};
const reads = operationsOf(publicApi).flatMap((one): [string, OperationShape, OperationShape][] => {
  const list = one.method === 'GET' ? listOf(one) : undefined;
  return list === undefined ? [] : [[one.path, one, list]];
});

describe('an unknown query parameter', () => {
  const isRefused = ({ params: _, ...shape }: OperationShape) =>
    fieldsOf(createValidator(shape), { query: { another: '1' } }).some(({ path }) =>
      path.includes('another'),
    );

  it.each(reads)(
    'is refused by the read of one object exactly if the list of these objects refuses it: %s',
    (_, read, list) => {
      expect(isRefused(read)).toBe(isRefused(list));
    },
  );
});

describe('the check of a request', () => {
  it('coerces numbers in a query and not in a body', () => {
    const validate = createValidator(
      operation({
        id: 'x',
        summary: 'x',
        method: 'POST',
        path: '/x',
        access: 'write',
        query: Type.Object({ wait: Type.Number() }),
        answers: {},
      }),
    );
    const query = { wait: '2.5' };
    expect(fieldsOf(validate, { query })).toEqual([]);
    expect(query.wait).toBe(2.5);
    expect(fieldsOf(validate, { query: { wait: 'x' } })).toEqual([
      { path: ['wait'], message: 'must be number' },
    ]);
    expect(checkOfBody(Type.Object({ count: Type.Number() }))({ count: '1' })).toEqual([
      { path: ['count'], message: 'must be number' },
    ]);
  });

  it('reports for a union only the problems of the variant that the client most likely meant', () => {
    expect(pathsOf({ slug: 'x', task: 'name' })).toEqual([]);
    expect(pathsOf({ slug: 'x', task: { seed: { rows: 5 } } })).toEqual(['task/seed/rows']);
    expect(pathsOf({ slug: 'x', task: { id: 'a', version: 0 } })).toEqual(['task/version']);
    expect(pathsOf({ slug: 'x', task: { instruktion: 'a' } })).toEqual(['task/instruktion']);
    expect(pathsOf({ slug: 'x', task: 5 })).toEqual(['task']);
  });

  it('checks unions inside unions', () => {
    const grader = { kind: 'assertions', checks: [{ entity: 'a', where: 1 }] };
    expect(pathsOf({ slug: 'x', task: { grader } })).toEqual(['task/grader/checks/0/where']);
  });

  it('requires a body if the operation requires one', () => {
    expect(checkOpen(undefined)).toEqual([{ path: [], message: 'a JSON body is required' }]);
  });
});
