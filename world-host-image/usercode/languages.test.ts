/** What authors may rely on in both languages alike, run on real workers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, createMemoryStore, startBench } from '#test/support/user-code.ts';

const python = `
from svc_env import get, query, insert, update, delete, fail, clock, ids, webhooks, Refused

def echo(**given):
    return given

def store():
    insert("things", {"id": 1, "name": "one", "owner": {"login": "ada"}})
    insert("things", {"id": 2, "name": "two", "owner": {"login": "bob"}})
    insert("things", {"id": 3, "name": "three", "owner": {"login": "bob"}})
    changed = update("things", {"id": 2}, {"name": "zwei"})
    delete("things", {"id": 1})
    return {
        "gone": get("things", {"id": 1}),
        "changed": changed,
        "bobs": [row["id"] for row in query("things", {"owner.login": ["bob", "eve"]}, order_by="-id")],
        "page": [row["id"] for row in query("things", limit=1, offset=1)],
        "next": ids.next("things", "id"),
        "uuid": ids.uuid(),
        "now": clock.now(),
    }

def sends():
    body = {"number": 7, "labels": ["bug"]}
    webhooks.deliver("issue.closed", body, {"repository": "berth"})
    body["number"] = 8
    webhooks.deliver("ping", None)

def sends_nonsense(type, scope):
    webhooks.deliver(type, {}, scope)

async def later():
    return get("things", {"id": 3})["name"]

def catches():
    try:
        insert("things", {"id": 3, "name": 5})
    except Refused as refused:
        return [refused.entity, refused.kind, refused.field, refused.pointer, refused.detail]

def uncaught():
    insert("things", {"id": 9})

def bad_key():
    return get("things", 7)

def fails():
    fail("it is locked", code="locked", number=7)

def just_fails():
    fail("no")

def raises():
    def inner():
        raise ValueError("broken")
    inner()

def raises_elsewhere():
    from labels import paint
    return paint(None)

def unicode(text):
    return text + "\\u2028\\ud83d\\ude80"

def not_json():
    return {"set": lambda: 1}

def large():
    return "x" * 2_000_000

def many():
    return query("things")
`;

const typescript = `
import { get, query, insert, update, remove, fail, clock, ids, webhooks, Refused } from 'svc_env';

export function echo(given) { return given; }

export async function store() {
  await insert('things', { id: 1, name: 'one', owner: { login: 'ada' } });
  await insert('things', { id: 2, name: 'two', owner: { login: 'bob' } });
  await insert('things', { id: 3, name: 'three', owner: { login: 'bob' } });
  const changed = await update('things', { id: 2 }, { name: 'zwei' });
  await remove('things', { id: 1 });
  const bobs = await query<{ id: number }>('things', {
    where: { 'owner.login': ['bob', 'eve'] }, orderBy: '-id',
  });
  return {
    gone: await get('things', { id: 1 }),
    changed,
    bobs: bobs.map((row) => row.id),
    page: (await query('things', { limit: 1, offset: 1 })).map((row) => row.id),
    next: await ids.next('things', 'id'),
    uuid: await ids.uuid(),
    now: await clock.now(),
  };
}

export async function sends() {
  const body = { number: 7, labels: ['bug'] };
  const first = webhooks.deliver('issue.closed', body, { repository: 'berth' });
  body.number = 8;
  await first;
  await webhooks.deliver('ping', null);
}

export const sends_nonsense = ({ type, scope }) => webhooks.deliver(type, {}, scope);

export async function later() { return (await get('things', { id: 3 }))?.name; }

export async function catches() {
  try {
    await insert('things', { id: 3, name: 5 });
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    return [refused.entity, refused.kind, refused.field, refused.pointer, refused.detail];
  }
}

export async function uncaught() {
  await insert('things', { id: 9 });
}

export const bad_key = () => get('things', 7 as never);

export function fails() { fail('it is locked', 'locked', { number: 7 }); }

export function just_fails() { fail('no'); }

export function raises() {
  const inner = () => { throw new RangeError('broken'); };
  inner();
}

export const raises_elsewhere = async () => (await import('./labels.ts')).paint(null);

export const unicode = ({ text }: { text: string }) => text + '\\u2028\\ud83d\\ude80';

export const not_json = () => ({ big: 1n });

export const large = () => 'x'.repeat(2_000_000);

export const many = () => query('things');
`;

const handlers = {
  python: `
def shown(ctx):
    return [ctx.method, ctx.path, ctx.route, ctx.args, ctx.body, ctx.headers]

def created(ctx):
    row = ctx.insert("things", {"id": ctx.ids.next("things", "id"), "name": ctx.body["name"]})
    ctx.respond(201, row, {"location": f"/things/{row['id']}"})

def sends(ctx):
    ctx.deliver("created", ctx.body, {"thing": 1})

def lets_pass(ctx):
    ctx.insert("things", {"id": 5, "name": ctx.path})
    return {"ignored": lambda: 1}

async def stops(ctx):
    ctx.respond(429, {"message": "slow down"}, {"retry-after": "60"})

def counted(ctx):
    ctx.set_header("X-Left", 4)
    if ctx.body is None:
        ctx.fail(400, None, {"x-left": "none"})
    if ctx.body["name"] == "new":
        ctx.respond(202, None, {"x-more": "1"})

def refused(ctx):
    ctx.insert("things", {"id": 77, "name": "never"})
    ctx.fail(422, {"message": "Validation Failed"}, {"x-reason": "name"})

def odd_status(ctx):
    ctx.respond("200")

def interim(ctx):
    ctx.respond(100)
`,
  typescript: `
import type { HandlerContext } from 'svc_env';
export const shown = (ctx: HandlerContext) => [ctx.method, ctx.path, ctx.route, ctx.args, ctx.body, ctx.headers];
export async function created(ctx: HandlerContext) {
  const { name } = ctx.body as { name: string };
  const row = await ctx.insert('things', { id: await ctx.ids.next('things', 'id'), name });
  ctx.respond(201, row, { location: \`/things/\${row.id}\` });
}
export async function sends(ctx: HandlerContext) {
  await ctx.deliver('created', ctx.body, { thing: 1 });
}
export async function lets_pass(ctx: HandlerContext) {
  await ctx.insert('things', { id: 5, name: ctx.path });
  return { ignored: 1n };
}
export function stops(ctx: HandlerContext) {
  ctx.respond(429, { message: 'slow down' }, { 'retry-after': '60' });
}
export function counted(ctx: HandlerContext) {
  ctx.setHeader('X-Left', 4);
  if (ctx.body === null) ctx.fail(400, null, { 'x-left': 'none' });
  if ((ctx.body as { name: string }).name === 'new') ctx.respond(202, null, { 'x-more': '1' });
}
export async function refused(ctx: HandlerContext) {
  await ctx.insert('things', { id: 77, name: 'never' });
  ctx.fail(422, { message: 'Validation Failed' }, { 'x-reason': 'name' });
}
export const odd_status = (ctx: HandlerContext) => ctx.respond('200' as never);
export const interim = (ctx: HandlerContext) => ctx.respond(100);
`,
};

const labels = {
  python: `# The line counts.
def paint(label):

    return label["color"]
`,
  typescript: `// The line counts.
type Label = { color: string };

export async function paint(label: Label | null) {
  return label!.color;
}
`,
};

const graders = {
  python: `
def verify(ctx):
    row = ctx.get("things", {"id": 1})
    if ctx.check("there is one", row is not None):
        ctx.check("it is right", row["name"] == "right", f"it is {row['name']}")

def idle(ctx):
    ctx.query("things")

def broken(ctx):
    ctx.check("fine", True)
    raise KeyError("name")
`,
  typescript: `
export async function verify(ctx) {
  const row = await ctx.get('things', { id: 1 });
  if (ctx.check('there is one', row !== null)) {
    ctx.check('it is right', row.name === 'right', \`it is \${row.name}\`);
  }
}
export async function idle(ctx) { await ctx.query('things'); }
export async function broken(ctx) { ctx.check('fine', true); throw new TypeError('name'); }
`,
};

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ messageBytes: 1024 * 1024 });
  await bench.load({
    'tools.py': python,
    'tools.ts': typescript,
    'labels.py': labels.python,
    'labels.ts': labels.typescript,
    'api/handlers.py': handlers.python,
    'api/handlers.ts': handlers.typescript,
    'checks/verify.py': graders.python,
    'checks/verify.ts': graders.typescript,
  });
});
afterAll(() => bench.close());

const extension = { python: 'py', typescript: 'ts' } as const;
const lineOf = (source: string, text: string): number =>
  source.slice(0, source.indexOf(text)).split('\n').length;

describe.each(['python', 'typescript'] as const)('user code in %s', (language) => {
  const source = language === 'python' ? python : typescript;
  const tools = `tools.${extension[language]}`;
  const api = { as: 'handler', file: `api/handlers.${extension[language]}` } as const;
  const grader = {
    as: 'verify',
    file: `checks/verify.${extension[language]}`,
    input: null,
  } as const;
  const request = {
    method: 'POST',
    path: '/things/7',
    route: '/things/{number}',
    args: { number: '7', page: '2' },
    body: { name: 'new' },
    headers: { accept: '*/*' },
  };

  it('passes values through both ways', async () => {
    const input = { text: 'ä\n\u2028🚀', none: null, list: [1, 2.5, true, { deep: [] }] };
    expect(await bench.value(language, 'echo', { input })).toEqual(input);
    expect(await bench.value(language, 'unicode', { input: { text: 'é' } })).toBe('é\u2028🚀');
  });

  it('reads and writes the store', async () => {
    const { access, things } = createMemoryStore();
    expect(await bench.value(language, 'store', { access })).toEqual({
      gone: null,
      changed: { id: 2, name: 'zwei', owner: { login: 'bob' } },
      bobs: [3, 2],
      page: [3],
      next: 4,
      uuid: access.uuid(),
      now: access.now(),
    });
    expect([...things.keys()]).toEqual(['2', '3']);
    expect(await bench.value(language, 'later', { access })).toBe('three');
  });

  it('lets code catch a refusal of the store', async () => {
    expect(await bench.value(language, 'catches')).toEqual([
      'things',
      'shape',
      'name',
      '/name',
      'must be a string',
    ]);
  });

  it('reports a refusal that nothing caught, with the line', async () => {
    const ninth = language === 'python' ? '"id": 9' : 'id: 9';
    expect(await bench.run(language, 'uncaught')).toMatchObject({
      ok: false,
      error: {
        code: 'refused',
        message: 'things/name: must be a string',
        details: {
          entity: 'things',
          kind: 'shape',
          field: 'name',
          trace: [{ file: tools, function: 'uncaught', line: lineOf(source, ninth) }],
        },
      },
    });
  });

  it('refuses arguments that are no key', async () => {
    expect(await bench.run(language, 'bad_key')).toMatchObject({
      error: { code: 'refused', details: { kind: 'shape', entity: 'things' } },
    });
  });

  it('fails with what the author says', async () => {
    expect(await bench.run(language, 'fails')).toEqual({
      ok: false,
      error: { code: 'locked', message: 'it is locked', details: { number: 7 } },
    });
    expect(await bench.run(language, 'just_fails')).toEqual({
      ok: false,
      error: { code: 'failed', message: 'no' },
    });
  });

  it('points at the line that threw', async () => {
    const result = await bench.run(language, 'raises');
    const raise = language === 'python' ? 'raise ValueError' : 'throw new RangeError';
    expect(result).toMatchObject({ ok: false, error: { code: 'raised' } });
    const { message, details } = (result as Extract<typeof result, { ok: false }>).error;
    expect(message).toMatch(/^(Value|Range)Error: broken \(tools\.(py|ts):\d+ in /);
    const { trace } = details as { trace: { file: string; line: number; source: string }[] };
    expect(trace.map(({ file }) => file)).toEqual([tools, tools]);
    expect(trace.at(-1)).toMatchObject({ line: lineOf(source, raise) });
    expect(trace.at(-1)?.source).toContain(raise);
  });

  it('points at the line of another file, and of a handler', async () => {
    const end = extension[language];
    const line = { python: 4, typescript: 5 }[language];
    expect(await bench.run(language, 'raises_elsewhere')).toMatchObject({
      error: {
        message: expect.stringContaining(`(labels.${end}:${line} in paint)`),
        details: {
          trace: [
            { file: tools, function: 'raises_elsewhere' },
            { file: `labels.${end}`, line },
          ],
        },
      },
    });
    const bodiless = { ...request, body: null };
    const text = language === 'python' ? 'ctx.body["name"]' : '{ name }';
    for (const as of ['handler', 'before'] as const) {
      expect(await bench.run(language, 'created', { ...api, as, input: bodiless })).toMatchObject({
        error: {
          code: 'raised',
          details: { trace: [{ file: api.file, line: lineOf(handlers[language], text) }] },
        },
      });
    }
  });

  it('names the functions that there are', async () => {
    expect(await bench.run(language, 'eco')).toMatchObject({
      error: { code: 'not_found', details: { functions: expect.arrayContaining(['echo']) } },
    });
  });

  it('refuses values that are not JSON, and more of them than a message holds', async () => {
    expect(await bench.run(language, 'not_json')).toMatchObject({
      error: { code: 'raised', message: expect.stringContaining('not_json answers is not JSON') },
    });
    expect(await bench.run(language, 'large')).toMatchObject({ error: { code: 'too_large' } });
    const input = { text: 'x'.repeat(2_000_000) };
    expect(await bench.run(language, 'echo', { input })).toMatchObject({
      error: { code: 'too_large' },
    });
    const { access, things } = createMemoryStore();
    for (let id = 0; id < 20; id += 1) things.set(`${id}`, { id, name: 'x'.repeat(100_000) });
    expect(await bench.run(language, 'many', { access })).toMatchObject({
      error: { code: 'refused', details: { kind: 'too_large' } },
    });
    expect(await bench.value(language, 'echo', { input: { still: 'here' } })).toEqual({
      still: 'here',
    });
  });

  it('hands a handler its request and takes its answer', async () => {
    const shown = await bench.run(language, 'shown', { ...api, input: request });
    expect(shown).toEqual({ ok: true, value: Object.values(request) });
    expect(await bench.run(language, 'created', { ...api, input: request })).toMatchObject({
      ok: true,
      status: 201,
      value: { name: 'new' },
      headers: { location: expect.stringMatching(/^\/things\/\d+$/) },
    });
    expect(await bench.run(language, 'refused', { ...api, input: request })).toEqual({
      ok: false,
      error: { code: 'failed', message: 'answered 422' },
      vendor: {
        status: 422,
        body: { message: 'Validation Failed' },
        headers: { 'x-reason': 'name' },
      },
    });
    for (const odd of ['odd_status', 'interim']) {
      expect(await bench.run(language, odd, { ...api, input: request })).toMatchObject({
        error: { code: 'raised', message: expect.stringContaining('no HTTP status') },
      });
    }
  });

  it('sends events as they are at the call', async () => {
    const { access, sent } = createMemoryStore();
    await bench.value(language, 'sends', { access });
    await bench.run(language, 'sends', { ...api, access, input: request });
    expect(sent).toEqual([
      {
        type: 'issue.closed',
        body: { number: 7, labels: ['bug'] },
        scope: { repository: 'berth' },
      },
      { type: 'ping', body: null, scope: null },
      { type: 'created', body: { name: 'new' }, scope: { thing: 1 } },
    ]);
    for (const input of [
      { type: 7, scope: null },
      { type: 'ping', scope: ['berth'] },
    ]) {
      expect(await bench.run(language, 'sends_nonsense', { input })).toMatchObject({
        error: { code: 'refused', details: { kind: 'shape', entity: 'webhooks' } },
      });
    }
  });

  it('runs what comes before a route, which answers only when it says so', async () => {
    const { access, things } = createMemoryStore();
    const before = { ...api, as: 'before', input: request, access } as const;
    expect(await bench.run(language, 'lets_pass', before)).toEqual({ ok: true, value: null });
    expect([...things.values()]).toEqual([{ id: 5, name: '/things/7' }]);
    expect(await bench.run(language, 'stops', before)).toEqual({
      ok: true,
      value: { message: 'slow down' },
      status: 429,
      headers: { 'retry-after': '60' },
    });
    expect(await bench.run(language, 'refused', before)).toMatchObject({
      ok: false,
      vendor: { status: 422 },
    });
  });

  it('takes headers that go with whatever the answer will be', async () => {
    const ask = (as: 'handler' | 'before', body: unknown) =>
      bench.run(language, 'counted', { ...api, as, input: { ...request, body } });
    const left = { 'x-left': '4' };
    for (const as of ['handler', 'before'] as const) {
      expect(await ask(as, { name: '' })).toEqual({ ok: true, value: null, headers: left });
      const headers = { ...left, 'x-more': '1' };
      expect(await ask(as, { name: 'new' })).toEqual({
        ok: true,
        value: null,
        status: 202,
        headers,
      });
      expect(await ask(as, null)).toMatchObject({ vendor: { headers: { 'x-left': 'none' } } });
    }
  });

  it('collects the checks of a grader', async () => {
    const { access, things } = createMemoryStore();
    const verify = () => bench.value(language, 'verify', { ...grader, access });
    expect(await verify()).toEqual({
      checks: [{ name: 'there is one', passed: false, detail: null }],
    });
    things.set('1', { id: 1, name: 'wrong' });
    expect(await verify()).toEqual({
      checks: [
        { name: 'there is one', passed: true, detail: null },
        { name: 'it is right', passed: false, detail: 'it is wrong' },
      ],
    });
  });

  it('fails a grader that checks nothing or throws', async () => {
    expect(await bench.run(language, 'idle', grader)).toMatchObject({ error: { code: 'failed' } });
    expect(await bench.run(language, 'broken', grader)).toMatchObject({
      error: { code: 'raised', message: expect.stringContaining('checks/verify') },
    });
  });

  it('throws what the host is to blame for, and goes on with a fresh worker', async () => {
    const { access } = createMemoryStore();
    const get = (): never => {
      throw new TypeError('a fault of the host');
    };
    await expect(bench.run(language, 'later', { access: { ...access, get } })).rejects.toThrow(
      'a fault of the host',
    );
    expect(await bench.value(language, 'echo', { input: { a: 1 } })).toEqual({ a: 1 });
  });

  it('refuses a file that is none of the code', async () => {
    for (const file of ['../tools.py', '/etc/passwd', 'tools.js', 'missing.py']) {
      expect(await bench.run(language, 'echo', { file })).toMatchObject({
        error: { code: 'load_failed' },
      });
    }
  });
});
