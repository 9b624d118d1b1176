/** Answers of declarative routes to invalid requests: `{param}`, `{field}`, `{message}`, and `invalid_by`. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ApiClient,
  type ApiWorld,
  type Asked,
  notesUpTo,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

const template = '{"param":"{param}","field":"{field}","message":"{message}"}';

const serve = async (world: Partial<ApiWorld>): Promise<ApiClient> => {
  const api = await serveApi({
    api: `page = "cursor"\nenvelope = "data"\ninvalid = '${template}'\n`,
    operations: '',
    ...world,
  });
  onTestFinished(api.stop);
  return api;
};

const routes = [
  operation(
    'POST',
    '/books/{book}/notes',
    'action = "create"\nfilter = { book = "book_id" }\nbody = { id = "id", title = "note.name", key = "note.key" }\ngenerate = { stamp = "now" }',
  ),
  operation('POST', '/notes', 'action = "create"'),
  operation('GET', '/notes', ''),
  operation('DELETE', '/notes', 'action = "delete"\nfilter = { id = "id" }', { params: ['id'] }),
  operation('DELETE', '/books/{id}', 'action = "delete"\nfilter = { id = "id" }', {
    entity: 'books',
  }),
].join('');

const world = { operations: routes, notes: notesUpTo(2), books: [{ id: 1 }] };
const note = { id: 9, note: { name: 'Nine' } };

describe('the answer to a rejected request', () => {
  it.each<[string, [method: string, path: string, Asked?], Record<string, unknown>]>([
    [
      'names the member of the body that the invalid field is taken from',
      ['POST', '/books/1/notes', { body: { id: 9, note: { name: '' } } }],
      { param: 'note.name', field: 'title', message: expect.stringContaining('fewer than 1') },
    ],
    [
      'names the field that the body lacks',
      ['POST', '/books/1/notes', { body: { id: 9 } }],
      { param: 'note.name', field: 'title', message: 'is missing' },
    ],
    [
      'names the field itself if the route takes the whole body',
      ['POST', '/notes', { body: { id: 9, title: 'x', owner: { age: 'old' } } }],
      { param: 'owner.age', field: 'owner.age', message: expect.stringContaining('integer') },
    ],
    [
      'names the argument of its path that refers to nothing',
      ['POST', '/books/7/notes', { body: note }],
      { param: 'book', field: 'book_id', message: 'refers to books, which has no such row' },
    ],
    [
      'names the key that is taken',
      ['POST', '/books/1/notes', { body: { ...note, id: 1 } }],
      { param: 'id', field: 'id', message: 'is taken by another row' },
    ],
    [
      'names the parameter "limit"',
      ['GET', '/notes?limit=0'],
      { param: 'limit', field: 'limit', message: 'must be a whole number from 1 to 10000' },
    ],
    [
      'names the parameter "cursor"',
      ['GET', '/notes?cursor=zzz'],
      { param: 'cursor', field: 'cursor', message: expect.stringMatching(/^is no cursor of /) },
    ],
    [
      'names the argument that is missing',
      ['DELETE', '/notes'],
      { param: 'id', field: 'id', message: expect.stringMatching(/^must be given/) },
    ],
    [
      'reports a missing body',
      ['POST', '/notes', { body: '{"id":' }],
      { param: null, field: null, message: 'The body is not JSON' },
    ],
    [
      'reports a body that is no object',
      ['POST', '/notes', { body: [1] }],
      { param: null, field: null, message: 'the body must be an object' },
    ],
  ])('%s', async (_, [method, path, asked = {}], body) => {
    const api = await serve(world);
    const answer = await api.ask(method, path, asked);
    expect([answer.status, answer.json]).toEqual([400, body]);
  });

  it('lists all problems of the request', async () => {
    const api = await serve({
      ...world,
      api: `invalid = '{"errors":[{"field":"{field}","message":"{message}"}]}'`,
    });
    const { json } = await api.ask('POST', '/notes', { body: { id: 0, rank: 'high' } });
    const fields = (json as { errors: { field: string }[] }).errors.map(({ field }) => field);
    expect(fields.toSorted()).toEqual(['id', 'rank', 'title']);
  });

  it('names, for a handler, the part of the body that does not fit "request", and later refusals of the store', async () => {
    const world = await serve({
      api: `invalid = '${template}'\ninvalid_by = { duplicate = { status = 409 } }`,
      operations: operation(
        'POST',
        '/copies',
        'action = "handler"\nhandler = "copy"\nrequest = "copies.json:Copy"',
      ),
      notes: notesUpTo(2),
      files: {
        'schema/copies.json': JSON.stringify({
          $defs: { Copy: { type: 'object', properties: { of: { type: 'integer' } } } },
        }),
        'api/handlers.py':
          'def copy(ctx):\n    return ctx.insert("notes", {"id": ctx.body["of"], "title": "Copy"})\n',
      },
    });
    const misfit = await world.ask('POST', '/copies', { body: { of: 'one' } });
    expect([misfit.status, misfit.json]).toEqual([
      400,
      { param: 'of', field: 'of', message: expect.stringContaining('integer') },
    ]);
    const taken = await world.ask('POST', '/copies', { body: { of: 1 } });
    expect([taken.status, taken.json]).toEqual([
      409,
      { param: 'id', field: 'id', message: 'a row with id 1 exists' },
    ]);
  });
});

const references = {
  'api/handlers.py': [
    'from svc_env import Refused',
    'def put(ctx):',
    '    if ctx.body.get("new"):',
    '        ctx.insert("books", {"id": ctx.body["book"]})',
    '    try:',
    '        return ctx.insert("notes", {"id": 9, "title": "x", "book_id": ctx.body["book"]})',
    '    except Refused as why:',
    '        ctx.fail(422, {"kind": why.kind, "field": why.field, "detail": why.detail})',
    'def drop(ctx):',
    '    ctx.delete("books", {"id": 1})',
    '',
  ].join('\n'),
  'api/handlers.ts': [
    "import { Refused } from 'svc_env';",
    'export const put = async (ctx) => {',
    "  if (ctx.body.new) await ctx.insert('books', { id: ctx.body.book });",
    '  try {',
    "    return await ctx.insert('notes', { id: 9, title: 'x', book_id: ctx.body.book });",
    '  } catch (why) {',
    '    if (!(why instanceof Refused)) throw why;',
    '    ctx.fail(422, { kind: why.kind, field: why.field, detail: why.detail });',
    '  }',
    '};',
    "export const drop = async (ctx) => ctx.remove('books', { id: 1 });",
    '',
  ].join('\n'),
};

describe.each(['api/handlers.py', 'api/handlers.ts'] as const)('a handler in %s', (file) => {
  const serveReferences = (): Promise<ApiClient> =>
    serve({
      api: `handlers = "${file}"\ninvalid_by = { reference = { status = 409, body = '${template}' } }`,
      operations: [
        operation('POST', '/notes', 'action = "handler"\nhandler = "put"'),
        operation('POST', '/drops', 'action = "handler"\nhandler = "drop"'),
      ].join(''),
      notes: notesUpTo(1, () => ({ book_id: 1 })),
      books: [{ id: 1 }],
      files: { [file]: references[file] },
    });

  it('can catch the refusal of a missing reference at the insert', async () => {
    const api = await serveReferences();
    const answer = await api.ask('POST', '/notes', { body: { book: 7 } });
    expect([answer.status, answer.json]).toEqual([
      422,
      {
        kind: 'missing_reference',
        field: 'book_id',
        detail: 'book_id 7 refers to books, which has no such row',
      },
    ]);
    expect(await api.requests()).toMatchObject([{ status: 422, changes: {} }]);
    const made = await api.ask('POST', '/notes', { body: { book: 7, new: true } });
    expect([made.status, made.json]).toMatchObject([200, { book_id: 7 }]);
  });

  it('fails with the vendor’s answer if a reference is missing when it ends', async () => {
    const api = await serveReferences();
    const { status, json } = await api.ask('POST', '/drops', { body: {} });
    expect([status, json]).toEqual([
      409,
      {
        param: null,
        field: null,
        message: expect.stringContaining('is still referred to by notes'),
      },
    ]);
  });
});

describe('invalid_by', () => {
  const causes = [
    'invalid_status = 422',
    `invalid = '{"code":"invalid"}'`,
    `invalid_by = { duplicate = { status = 409, body = '{"code":"taken","field":"{field}"}' }, reference = '{"code":"unknown"}', shape = { status = 400 } }`,
  ].join('\n');

  it.each<[string, [method: string, path: string, Asked?], number, string]>([
    [
      'a key that is taken',
      ['POST', '/notes', { body: { id: 1, title: 'x' } }],
      409,
      '{"code":"taken","field":"id"}',
    ],
    [
      'a reference to a row that does not exist',
      ['POST', '/notes', { body: { id: 9, title: 'x', book_id: 7 } }],
      422,
      '{"code":"unknown"}',
    ],
    [
      'the deletion of a row that others refer to',
      ['DELETE', '/books/1'],
      422,
      '{"code":"unknown"}',
    ],
    [
      'a row that does not fit its schema',
      ['POST', '/notes', { body: { id: 9 } }],
      400,
      '{"code":"invalid"}',
    ],
    ['any other cause', ['GET', '/notes?limit=0'], 422, '{"code":"invalid"}'],
  ])('sets the error body for %s', async (_, [method, path, asked = {}], status, text) => {
    const notes = notesUpTo(2).map((row) => ({ ...row, book_id: 1 }));
    const api = await serve({
      ...world,
      notes,
      api: `page = "cursor"\nenvelope = "data"\n${causes}`,
    });
    const answer = await api.ask(method, path, asked);
    expect([answer.status, answer.text]).toEqual([status, text]);
  });
});
