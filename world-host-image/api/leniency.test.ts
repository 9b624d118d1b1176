/** Lenient parsing of numbers in paths and queries, and the point at which a number from `ids.next` counts as used. */
import { afterEach, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

let api: ApiClient;
afterEach(() => api?.stop());

const one = (path: string, field: string, name: string): string =>
  operation('GET', path, `filter = { ${field} = "${field}" }\nsingle = true`, { name });

it('leading zeros of an argument are ignored for a number field, and kept for a text field', async () => {
  api = await serveApi({
    operations: one('/notes/{id}', 'id', 'by_id') + one('/keys/{key}', 'key', 'by_key'),
    notes: notesUpTo(2, (id) => ({ key: `0${id}` })),
  });
  for (const path of ['/notes/1', '/notes/01', '/notes/0001', '/keys/01']) {
    expect([path, (await api.get(path)).json]).toEqual([
      path,
      { id: 1, title: 'Note 1', key: '01' },
    ]);
  }
  for (const path of [
    '/keys/1',
    '/keys/001',
    '/notes/1.0',
    '/notes/+1',
    '/notes/0x1',
    '/notes/1e0',
  ]) {
    expect([path, (await api.get(path)).status]).toEqual([path, 404]);
  }
});

it('the parameter "limit" may have leading zeros, and is refused if it is empty', async () => {
  const list = operation('GET', '/notes', 'page = "offset"');
  api = await serveApi({ operations: list, notes: notesUpTo(3) });
  expect((await api.get('/notes?limit=01&offset=002')).json).toMatchObject([{ id: 3 }]);
  for (const query of ['limit=', 'offset=', 'limit=%201', 'limit=+1', 'limit=1&limit=']) {
    expect([query, (await api.get(`/notes?${query}`)).status]).toEqual([query, 400]);
  }
});

const handlers = {
  py: `
def draw(ctx):
    first = [ctx.ids.next("notes", "id"), ctx.ids.next("notes", "id")]
    ctx.insert("notes", {"id": first[0], "title": "taken"})
    after = ctx.ids.next("notes", "id")
    ctx.delete("notes", {"id": first[0]})
    return [*first, after, ctx.ids.next("notes", "id")]
`,
  ts: `
import type { HandlerContext } from 'svc_env';
export async function draw(ctx: HandlerContext) {
  const next = () => ctx.ids.next('notes', 'id');
  const first = [await next(), await next()];
  await ctx.insert('notes', { id: first[0], title: 'taken' });
  const after = await next();
  await ctx.remove('notes', { id: first[0] });
  return [...first, after, await next()];
}
`,
};

it.each(['py', 'ts'] as const)(
  'a number from ids.next is used up by its insert, and a delete does not free it (%s)',
  async (language) => {
    const lines = 'action = "handler"\nhandler = "draw"';
    api = await serveApi({
      api: `handlers = "api/handlers.${language}"`,
      operations: operation('POST', '/draw', lines, { entity: '' }),
      notes: notesUpTo(2),
      files: { [`api/handlers.${language}`]: handlers[language] },
    });
    const drawn = async (): Promise<Row> => (await api.ask('POST', '/draw')).json as Row;
    expect(await drawn()).toEqual([3, 3, 4, 4]);
    expect(await drawn()).toEqual([4, 4, 5, 5]);
    await api.reset();
    expect(await drawn()).toEqual([3, 3, 4, 4]);
  },
);

it('a number that a route generated is given again only if the request was rolled back', async () => {
  api = await serveApi({
    operations:
      operation('POST', '/notes', 'action = "create"\ngenerate = { id = "int" }') +
      operation('DELETE', '/notes/{id}', 'action = "delete"\nfilter = { id = "id" }', {
        name: 'drop',
      }),
    notes: notesUpTo(9),
    files: {
      'scenarios/few/scenario.toml': '[seed]\nmode = "replace"\n',
      'scenarios/few/seed/notes.json': JSON.stringify(notesUpTo(2)),
    },
  });
  const make = async () => (await api.ask('POST', '/notes', { body: { title: 'new' } })).json;
  expect(await make()).toMatchObject({ id: 3 });
  await api.ask('DELETE', '/notes/3');
  expect(await make()).toMatchObject({ id: 4 });
  await api.call('seed', undefined, { mode: 'replace', rows: { notes: [] } });
  expect(await make()).toMatchObject({ id: 5 });
});
