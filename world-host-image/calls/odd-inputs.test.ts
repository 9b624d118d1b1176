/** Inputs of calls that are almost valid: each is rejected with a pointer to the faulty place. */
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

const open = { input: { type: 'object' }, output: true };

const api = await serveApi({
  operations: [
    operation('GET', '/notes/{id}', 'single = true\nfilter = { id = "id" }', { name: 'get_one' }),
    operation('GET', '/notes', 'filter = { ids = "id", state = "state" }', {
      name: 'find',
      params: ['ids[]', 'state'],
    }),
    operation('GET', '/echo', 'action = "handler"\nhandler = "echo"', {
      name: 'echo',
      params: ['ids[]', 'state'],
      entity: '',
    }),
  ].join(''),
  notes: notesUpTo(3),
  tools: { get_one: open, find: open, echo: open, list_notes: open },
  files: { 'api/handlers.py': 'def echo(ctx):\n    return {**ctx.args, "body": ctx.body}\n' },
});
beforeEach(() => api.reset());
afterAll(() => api.stop());

const tool = (name: string, input: Row) => api.call('tool', name, input);

it.each<[string, Row, string]>([
  ['get_one', {}, '/id'],
  ['get_one', { id: null }, '/id'],
  ['get_one', { id: [1] }, '/id'],
  ['get_one', { id: { is: 1 } }, '/id'],
  ['find', { ids: [{}] }, '/ids'],
  ['find', { state: ['open', 'done'] }, '/state'],
  ['list_notes', { owner: { login: 'ada' } }, '/owner'],
  ['list_notes', { title: ['Note 1', ['Note 2']] }, '/title'],
])('the tool %s refuses %j at %s', async (name, input, path) => {
  expect((await tool(name, input)).error).toMatchObject({ code: 'invalid_input', path });
});

it('a repeated argument is passed to the code as a list, even if it has only one value', async () => {
  for (const ids of [2, '2', [2], ['2']]) {
    expect((await tool('find', { ids })).output).toMatchObject([{ id: 2 }]);
    expect((await tool('echo', { ids, state: true, other: 1 })).output).toEqual({
      ids: ['2'],
      state: 'true',
      body: { other: 1 },
    });
  }
});

it.each(['note', 'svc_requests', 'constructor'])(
  'a seed with rows of the unknown entity %s is refused',
  async (entity) => {
    for (const rows of [[], [{}]]) {
      for (const mode of ['append', 'replace']) {
        const { error } = await api.call('seed', 'seed', { mode, rows: { [entity]: rows } });
        expect(error).toMatchObject({ code: 'unknown_entity', path: `/rows/${entity}` });
      }
    }
  },
);

it('an error message cuts the name of an unknown tool short', async () => {
  const { error } = await tool('x'.repeat(100_000), {});
  expect(error?.code).toBe('unknown_tool');
  expect(error?.message.length).toBeLessThan(1_000);
});
