import { expect, it } from 'vitest';
import { fillStep, readReference, type Step, solutionFaults } from './solution.ts';

const world = {
  hasApi: true,
  toolFault: (name: string) => (name === 'add' ? undefined : `no ${name}`),
  routeFault: (method: string, path: string) =>
    method === 'GET' && path === '/users/x' ? undefined : `no ${path}`,
};

it('a solution may refer to answers of earlier steps, in values and in paths', () => {
  const find = (text: string) => (text === 'steps[0].output.items[1].id' ? 7 : text);
  const reference = { $ref: 'steps[0].output.items[1].id' };
  expect(readReference('steps[0].output.items[1].id')).toEqual({
    step: 0,
    path: ['items', 1, 'id'],
  });
  expect(fillStep({ tool: 'add', input: { a: [reference], b: { $ref: '#/x' } } }, find)).toEqual({
    tool: 'add',
    input: { a: [7], b: { $ref: '#/x' } },
  });
  const path = '/a/{steps[0].output.items[1].id}/{b}';
  expect(
    fillStep({ request: { method: 'PUT', path, body: { n: reference } } }, find),
  ).toMatchObject({ request: { path: '/a/7/{b}', body: { n: 7 } } });
  expect(fillStep({ answer: reference }, find)).toEqual({ answer: 7 });
});

it('a solution is refused if a step names an unknown tool, answer or route', () => {
  const faultsOf = (steps: Step[], hasApi = true) =>
    solutionFaults({ steps }, { ...world, hasApi }).map(({ path }) => path.join('.'));
  expect(faultsOf([{ tool: 'add' }, { answer: { $ref: 'steps[0].output' } }])).toEqual([]);
  expect(faultsOf([{ tool: 'drop' }])).toEqual(['steps.0.tool']);
  expect(faultsOf([{ answer: { $ref: 'steps[0].output' } }])).toEqual(['steps.0']);
  expect(faultsOf([{ tool: 'add' }, { answer: { $ref: 'steps[0].ouput' } }])).toEqual(['steps.1']);
  expect(faultsOf([{ request: { method: 'GET', path: 'users' } }])).toEqual([
    'steps.0.request.path',
  ]);
  const found = '/users/{steps[0].output.id}?page=2';
  expect(faultsOf([{ tool: 'add' }, { request: { method: 'GET', path: found } }])).toEqual([]);
  expect(faultsOf([{ request: { method: 'PUT', path: '/users/x' } }])).toEqual([
    'steps.0.request.path',
  ]);
  expect(faultsOf([{ request: { method: 'GET', path: '/users' } }], false)).toEqual([
    'steps.0.request',
  ]);
});
