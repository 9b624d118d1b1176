/** Cached answers of handlers, as clients and the ledger see them. */
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { ServeOptions } from '#test/support/host/serve-world.ts';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

let api: ApiClient;

const python = `
from svc_env import HandlerContext

runs = 0

def count(ctx: HandlerContext):
    """Answers otherwise each time it runs, which an answer that is kept does not."""
    global runs
    runs += 1
    ctx.set_header("x-before", runs)

def titles(ctx):
    rows = ctx.query("notes", {"state": ctx.args["state"]} if "state" in ctx.args else None)
    return {"runs": runs, "titles": [row["title"] for row in rows], "method": ctx.method}

def book(ctx):
    if ctx.get("books", {"id": int(ctx.args["id"])}) is None:
        ctx.fail(404, {"runs": runs})
    return {"runs": runs}

def language(ctx):
    return {"runs": runs, "language": ctx.headers.get("accept-language", "en")}

def all_headers(ctx):
    return {"runs": runs, "names": sorted(name for name in ctx.headers if name.startswith("x-"))}

def copied(ctx):
    return {"runs": runs, "mark": dict(ctx.headers).get("x-mark"), "other": {**ctx.headers}.get("x-other")}

def time(ctx):
    return {"runs": runs, "now": ctx.clock.now(), "id": ctx.ids.uuid()}

def time_then(ctx):
    return {"runs": runs}

def write(ctx):
    return ctx.insert("notes", {"id": ctx.ids.next("notes", "id"), "title": "New"})

def refused(ctx):
    try:
        ctx.query("no" + "where")
    except Exception:
        pass
    return {"runs": runs}

def broken(ctx):
    ctx.get("books", {"id": 1})
    raise ValueError(runs)

def create(ctx):
    ctx.insert(ctx.args["entity"], ctx.body)
`;

const typescript = `
import type { HandlerContext } from 'svc_env';
let runs = 0;
export const language = (ctx: HandlerContext) => {
  runs += 1;
  return { runs, language: ctx.headers['accept-language'] ?? 'en' };
};
export const spread = (ctx: HandlerContext) => {
  runs += 1;
  return { runs, mark: { ...ctx.headers }['x-mark'] ?? null };
};
export const book = async (ctx: HandlerContext) => {
  runs += 1;
  const book = await ctx.get('books', { id: Number(ctx.args.id) });
  return { runs, isThere: book !== null };
};
`;

const route = (method: string, path: string, name: string, lines = '', params: string[] = []) =>
  operation(method, path, `action = "handler"\nhandler = "${name}"\n${lines}`, {
    entity: '',
    params,
    name,
  });

const operations = [
  route('GET', '/titles', 'titles', '', ['state']),
  route('GET', '/books/{id}', 'book'),
  route('GET', '/language', 'language'),
  route('GET', '/headers', 'all_headers'),
  route('GET', '/copied', 'copied'),
  route('GET', '/time', 'time'),
  route('GET', '/write', 'write'),
  route('GET', '/refused', 'refused'),
  route('GET', '/broken', 'broken'),
  route('GET', '/fresh', 'time_then', 'keep_answers = false'),
  route('POST', '/rows/{entity}', 'create', 'status = 201'),
].join('');

const pythonWorld = (keeps: boolean) => ({
  api: `before = "count"\nkeep_answers = ${keeps}`,
  operations,
  files: { 'api/handlers.py': python },
  notes: notesUpTo(3),
});

const serve = async (options: ServeOptions = {}): Promise<void> => {
  api = await serveApi(pythonWorld(true), options);
  onTestFinished(api.stop);
};

const runs = async (path: string, headers: Record<string, string> = {}): Promise<unknown> =>
  ((await api.get(path, headers)).json as Row).runs;

/** One action of a client. Returns what the client observes, without the number of times that the code has run. */
type Move = (world: ApiClient) => Promise<unknown>;

const asked = (method: string, path: string, more: Parameters<ApiClient['ask']>[2]): Move =>
  Object.assign(
    async (world: ApiClient) => {
      const { status, json, headers } = await world.ask(method, path, more);
      const { runs: _, ...others } = { ...(json as Row) };
      return [method, path, status, others, headers.get('content-type')];
    },
    { toString: () => `${method} ${path} ${JSON.stringify(more)}` },
  );

const paths = [
  '/titles',
  '/titles?state=open',
  '/books/1',
  '/books/2',
  '/language',
  '/time',
  '/write',
];
const language = fc.constantFrom({}, { 'accept-language': 'de' });
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('GET', 'HEAD'), fc.constantFrom(...paths, '/headers'), language)
      .map(([method, path, headers]) => asked(method, path, { headers })),
  },
  fc
    .tuple(fc.constantFrom('books', 'notes'), fc.integer({ min: 1, max: 5 }))
    .map(([entity, id]) => {
      const body = entity === 'books' ? { id } : { id, title: `Note ${id}`, state: 'open' };
      return asked('POST', `/rows/${entity}`, { body });
    }),
  fc.constant<Move>(async (world) => (await world.call('reset', 'reset', {})).error),
);

describe('a cached answer', () => {
  it('is sent again, with its headers, until a row changes in an entity that the code read', async () => {
    await serve();
    const first = await api.get('/titles');
    const again = await api.get('/titles');
    expect(first.json).toMatchObject({ runs: 1, titles: ['Note 1', 'Note 2', 'Note 3'] });
    expect([again.status, again.text]).toEqual([200, first.text]);
    const lasting = ({ headers }: typeof first) => [...headers].filter(([name]) => name !== 'date');
    expect(lasting(again)).toEqual(lasting(first));
    expect(await api.ask('POST', '/rows/books', { body: { id: 1 } })).toMatchObject({
      status: 201,
    });
    expect(await runs('/titles')).toBe(1);
    await api.ask('POST', '/rows/notes', { body: { id: 9, title: 'Nine' } });
    expect((await api.get('/titles')).json).toMatchObject({ runs: 4, titles: { length: 4 } });
    await api.call('reset', 'reset', {});
    expect((await api.get('/titles')).json).toMatchObject({ runs: 5, titles: { length: 3 } });
  });

  it('is sent only for the same path, arguments and method', async () => {
    await serve();
    expect([
      await runs('/titles'),
      await runs('/titles?state=open'),
      await runs('/titles'),
    ]).toEqual([1, 2, 1]);
    expect((await api.ask('HEAD', '/titles')).headers.get('x-before')).toBe('3');
    expect((await api.get('/titles')).json).toMatchObject({ method: 'GET' });
    expect((await api.ask('HEAD', '/titles')).headers.get('x-before')).toBe('3');
  });

  it('can be an error by ctx.fail, but never one caused by an exception', async () => {
    await serve();
    const missing = [await api.get('/books/1'), await api.get('/books/1')];
    expect(missing.map(({ status, json }) => [status, json])).toEqual([
      [404, { runs: 1 }],
      [404, { runs: 1 }],
    ]);
    await api.ask('POST', '/rows/books', { body: { id: 1 } });
    expect(await api.get('/books/1')).toMatchObject({ status: 200, json: { runs: 3 } });
    expect((await api.get('/broken')).headers.get('x-before')).toBe('4');
    expect((await api.get('/broken')).headers.get('x-before')).toBe('5');
  });

  it('is sent only for the same values of the headers that the code read, present or not', async () => {
    await serve();
    const german = { 'accept-language': 'de' };
    expect([await runs('/language'), await runs('/language', { 'x-mark': '1' })]).toEqual([1, 1]);
    expect([await runs('/language', german), await runs('/language', german)]).toEqual([2, 2]);
    expect(await runs('/language')).toBe(1);
    expect([await runs('/headers'), await runs('/headers', { 'x-a': '1' })]).toEqual([3, 4]);
    expect([await runs('/headers', { 'x-a': '1' }), await runs('/headers')]).toEqual([4, 3]);
    expect([await runs('/copied'), await runs('/copied', { 'x-other': '1' })]).toEqual([5, 6]);
  });

  it('is never made by code that used a time or an id, wrote, or was refused, or by a route without keep_answers', async () => {
    await serve();
    for (const path of ['/time', '/write', '/refused', '/fresh']) {
      const [first, second] = [await api.get(path), await api.get(path)];
      expect([path, first.headers.get('x-before') === second.headers.get('x-before')]).toEqual([
        path,
        false,
      ]);
    }
    const asked = [
      await api.ask('POST', '/rows/books', { body: { id: 1 } }),
      await api.get('/books/1'),
      await api.get('/books/1'),
    ];
    expect(asked.map(({ headers }) => headers.get('x-before'))).toEqual(['9', '10', '10']);
  });

  it('counts as a turn and gets a ledger entry like any other answer, whatever is requested and written', async () => {
    const clock = { at: '2026-03-01T09:30:00Z', mode: 'stepped', rate: 60 } as const;
    const worlds = await Promise.all(
      [true, false].map((keeps) => serveApi(pythonWorld(keeps), { clock, seed: 7 })),
    );
    onTestFinished(async () => void (await Promise.all(worlds.map((world) => world.stop()))));
    const play = async (world: ApiClient, moves: readonly Move[]): Promise<unknown[]> => {
      await world.call('reset', 'reset', {});
      const seen: unknown[] = [];
      for (const move of moves) seen.push(await move(world));
      const noted = (await world.requests()).map(
        ({ method, path, status, operation: of, changes }) => [method, path, status, of, changes],
      );
      return [...seen, noted];
    };
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 16 }), async (moves) => {
        const [kept, fresh] = await Promise.all(worlds.map((world) => play(world, moves)));
        expect(kept).toEqual(fresh);
      }),
      { numRuns: 12 },
    );
  });

  it('becomes a 304 for a client that has it, and contains the addresses that its client uses', async () => {
    await serve();
    const first = await api.get('/titles');
    const tag = { 'if-none-match': first.headers.get('etag') ?? '' };
    expect((await api.get('/titles', tag)).status).toBe(304);
    expect(await runs('/titles')).toBe(1);
  });
});

it('an answer of TypeScript code is cached until the rows or headers that the code read change', async () => {
  api = await serveApi({
    api: 'handlers = "api/handlers.ts"\nkeep_answers = true',
    operations: [
      route('GET', '/language', 'language'),
      route('GET', '/spread', 'spread'),
      route('GET', '/books/{id}', 'book'),
    ].join(''),
    files: { 'api/handlers.ts': typescript },
  });
  onTestFinished(api.stop);
  const german = { 'accept-language': 'de' };
  expect([await runs('/language'), await runs('/language', { 'x-mark': '1' })]).toEqual([1, 1]);
  expect([await runs('/language', german), await runs('/language')]).toEqual([2, 1]);
  expect([await runs('/spread'), await runs('/spread', { 'x-mark': '1' })]).toEqual([3, 4]);
  expect([await runs('/books/1'), await runs('/books/1')]).toEqual([5, 5]);
  await api.call('seed', 'seed', { rows: { books: [{ id: 1 }] } });
  expect((await api.get('/books/1')).json).toEqual({ runs: 6, isThere: true });
});
