/** Functions of the handlers module in requests: as handlers, and as `before`. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Row } from '#language/contract.ts';
import {
  type ApiClient,
  type ApiWorld,
  notesUpTo,
  operation,
  serveApi,
} from '#test/support/worlds/api-world.ts';

let api: ApiClient;

const serve = async (world: ApiWorld): Promise<void> => {
  api = await serveApi(world);
  onTestFinished(api.stop);
};

const ids = (rows: unknown): unknown => (rows as Row[]).map(({ id }) => id);

const list = operation('GET', '/notes', 'filter = { state = "state" }', { params: ['state'] });

it('a request with a number beyond the range of doubles is refused and never reaches a handler as null', async () => {
  await serve({
    operations: operation('POST', '/echo', 'action = "handler"\nhandler = "echo"', { entity: '' }),
    files: { 'api/handlers.py': 'def echo(ctx):\n    return ctx.body\n' },
  });
  const echo = async (body: string) => (await api.ask('POST', '/echo', { body })).json;
  const invalid = { error: 'invalid' };
  for (const number of ['1e400', '-1E+999', '9'.repeat(400)]) {
    expect(await echo(`{"a":[{"b":${number}}]}`)).toEqual(invalid);
  }
  expect(await echo('{"a":1e300,"b":"1e400"}')).toEqual({ a: 1e300, b: '1e400' });
});

describe('a handler', () => {
  const handlers = `
def echo(ctx):
    return {"args": ctx.args, "body": ctx.body, "method": ctx.method, "path": ctx.path}


def texts(ctx):
    ctx.respond(200, "a,b\\n", {"content-type": "text/csv", "ETag": '"v1"'})


def wanted(ctx):
    if ctx.media_type == "text/x-patch":
        ctx.respond(200, "a patch", {"content-type": "text/x-patch"})
    return ctx.media_type


def halves(ctx):
    return {"a": "\\ud800x", "b": "\\\\ud800", "c": "\\U0001f600"}


def refuse(ctx):
    ctx.insert("notes", {"id": 1, "title": "x"})
    ctx.fail(409, {"message": "taken"}, {"x-reason": "taken"})


def nothing(ctx):
    return None


def unsendable(ctx):
    ctx.insert("notes", {"id": 1, "title": "x"})
    ctx.set_header("x-title", "North → South")


def unsendable_refusal(ctx):
    ctx.fail(409, None, {"x title": "x"})


def stray(ctx):
    return ctx.query("".join(["no", "te"]))


def interim(ctx):
    ctx.insert("notes", {"id": 1, "title": "x"})
    ctx.respond(103)
`;
  const route = (method: string, path: string, name: string, params: string[] = []) =>
    operation(method, path, `action = "handler"\nhandler = "${name}"`, { entity: '', params });

  it('answers with its return value, or with what it passes to ctx.respond or ctx.fail', async () => {
    await serve({
      operations: [
        route('GET', '/echo/{a}', 'echo', ['b', 'c[]', 'constructor']),
        route('POST', '/echo/{a}', 'echo'),
        route('GET', '/texts', 'texts'),
        route('POST', '/refuse', 'refuse'),
        operation('GET', '/nothing', 'action = "handler"\nhandler = "nothing"\nstatus = 204', {
          entity: '',
        }),
      ].join(''),
      files: { 'api/handlers.py': handlers },
    });
    expect((await api.get('/echo/x%2Fy?b=1&b=2&c=3&d=4')).json).toEqual({
      args: { a: 'x/y', b: '2', c: ['3'] },
      body: null,
      method: 'GET',
      path: '/echo/x%2Fy',
    });
    const form = await api.ask('POST', '/echo/x', {
      body: 'a[b]=1&c[]=2',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(form.json).toMatchObject({ args: { a: 'x' }, body: { a: { b: '1' }, c: ['2'] } });
    const texts = await api.get('/texts');
    expect([texts.text, texts.headers.get('content-type')]).toEqual(['a,b\n', 'text/csv']);
    expect(texts.headers.get('etag')).toBe('"v1"');
    expect((await api.get('/texts', { 'if-none-match': 'W/"v1"' })).status).toBe(304);
    const refused = await api.ask('POST', '/refuse');
    expect([refused.status, refused.json, refused.headers.get('x-reason')]).toEqual([
      409,
      { message: 'taken' },
      'taken',
    ]);
    expect(api.rows('notes', {})).toEqual([]);
    const nothing = await api.get('/nothing');
    expect([nothing.status, nothing.text]).toEqual([204, '']);
  });

  it('gets the media type that the client accepts among those of the route', async () => {
    const types = 'media_types = ["text/x-patch"]';
    await serve({
      api: [
        'media_types = ["application/vnd.notes.*+json"]\nnot_acceptable_status = 415',
        `invalid = '{"message":"Invalid"}'`,
      ].join('\n'),
      operations: [
        operation('GET', '/notes/{id}', `action = "handler"\nhandler = "wanted"\n${types}`),
        operation('GET', '/notes'),
      ].join(''),
      files: { 'api/handlers.py': handlers },
    });
    const wanted = async (accept: string, path = '/notes/1') => {
      const { json, status, text } = await api.get(path, { accept });
      return status === 200 ? (json ?? text) : [status, json];
    };
    expect(await wanted('*/*')).toBe('application/json');
    expect(await wanted('application/vnd.notes.full+json')).toBe('application/vnd.notes.full+json');
    expect(await wanted('text/x-patch')).toBe('a patch');
    expect(await wanted('application/vnd.notes.full+json', '/notes')).toEqual([]);
    expect(await wanted('text/x-patch', '/notes')).toEqual([
      415,
      {
        message: 'The path answers application/json, application/vnd.notes.*+json and nothing else',
      },
    ]);
  });

  it('gets bodies of the media types that its route accepts, unchanged, and no other bodies', async () => {
    const declared = [
      'action = "handler"\nhandler = "as_sent"\nrequest = "bodies.json:Note"',
      'body_types = ["text/xml", "application/xml", "application/json", "application/x-www-form-urlencoded"]',
    ].join('\n');
    const note = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } };
    await serve({
      operations: operation('POST', '/notes', declared),
      files: {
        'schema/bodies.json': JSON.stringify({ $defs: { Note: note } }),
        'api/handlers.py': `
def as_sent(ctx):
    if ctx.content_type == "text/xml":
        ctx.respond(201, "<seen>" + ctx.body + "</seen>", {"content-type": "text/xml"})
    return [ctx.content_type, ctx.body]
`,
      },
    });
    const send = async (body: string | Buffer, type: string | undefined) => {
      const headers = type === undefined ? {} : { 'content-type': type };
      const { json, status, text } = await api.ask('POST', '/notes', { body, headers });
      return [status, json ?? text];
    };
    const hostile = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a> ';
    expect(await send('<a/>\n', 'Text/XML; charset="UTF-8"')).toEqual([201, '<seen><a/>\n</seen>']);
    expect(await send(hostile, 'application/xml')).toEqual([200, ['application/xml', hostile]]);
    expect(await send('{"title":"a"}', 'application/json')).toEqual([
      200,
      ['application/json', { title: 'a' }],
    ]);
    expect(await send('a[b]=1', 'application/x-www-form-urlencoded')).toEqual([
      200,
      ['application/x-www-form-urlencoded', { a: { b: '1' } }],
    ]);
    expect(await send('<a/>', 'application/json')).toMatchObject([400, {}]);
    expect(await send('{}', 'application/json')).toMatchObject([400, {}]);
    expect(await send('a', 'text/plain')).toMatchObject([415, {}]);
    expect(await send('a', 'multipart/form-data; boundary=b')).toMatchObject([415, {}]);
    expect(await send('a', 'text/xml; charset=iso-8859-1')).toMatchObject([415, {}]);
    expect(await send(Buffer.from([0x3c, 0xff]), 'text/xml')).toMatchObject([400, {}]);
    expect(await send(`<a>${'x'.repeat(1024 * 1024)}</a>`, 'text/xml')).toMatchObject([413, {}]);
    expect(await send('', 'text/plain')).toMatchObject([400, {}]);
  });

  it('gets the bytes of a body as base64 if its route declares body_encoding', async () => {
    const bytes = 'action = "handler"\nhandler = "as_sent"\nbody_encoding = "base64"';
    const some = `${bytes}\nbody_types = ["image/*", "multipart/form-data"]`;
    await serve({
      operations: [operation('POST', '/notes', bytes), operation('PUT', '/notes', some)].join(''),
      files: {
        'api/handlers.py': 'def as_sent(ctx):\n    return [ctx.content_type, ctx.body]\n',
      },
    });
    const send = async (method: string, body: string | Buffer, type: string) => {
      const headers = { 'content-type': type };
      const { json, status } = await api.ask(method, '/notes', { body, headers });
      return [status, json];
    };
    const binary = Buffer.from([0, 0xff, 0xc3, 0x28, 0x0d, 0x0a]);
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const given = (type: string, body: string | null) => [200, [type, body]];
    expect(await send('POST', binary, 'image/png')).toEqual(given('image/png', 'AP/DKA0K'));
    expect(await send('POST', '{', 'application/json; charset=latin1')).toEqual(
      given('application/json', base64('{')),
    );
    expect(await send('POST', '', 'image/png')).toEqual(given('', null));
    const form = 'multipart/form-data';
    expect(await send('PUT', 'a', `${form}; boundary=b`)).toEqual(given(form, base64('a')));
    expect(await send('PUT', binary, 'text/plain')).toMatchObject([415, {}]);
    expect(await send('POST', Buffer.alloc(1024 * 1024 + 1), 'image/png')).toMatchObject([413, {}]);
  });

  it('answers with valid Unicode even if its texts contain lone surrogates', async () => {
    await serve({
      operations: route('GET', '/halves', 'halves'),
      files: { 'api/handlers.py': handlers },
    });
    const { text } = await api.get('/halves');
    expect(text).toBe('{"a":"\ufffdx","b":"\\\\ud800","c":"\u{1f600}"}');
  });

  it('gets any body if the world turns the check of requests off', async () => {
    const note = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } };
    const declared = 'action = "handler"\nhandler = "echo"\nrequest = "bodies.json:Note"';
    await serve({
      api: 'check_requests = false',
      operations: operation('POST', '/notes', declared),
      files: {
        'schema/bodies.json': JSON.stringify({ $defs: { Note: note } }),
        'api/handlers.py': handlers,
      },
    });
    const { status, json } = await api.ask('POST', '/notes', { body: { title: 5 } });
    expect([status, json]).toMatchObject([200, { body: { title: 5 } }]);
  });

  it('gets only bodies that fit the schema of its route', async () => {
    const note = {
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string' }, rank: { type: 'integer' } },
    };
    const declared = 'status = 201\nrequest = "bodies.json:Note"';
    await serve({
      api: `invalid = '{"message":"Invalid","status":422}'\ninvalid_status = 422`,
      operations: operation('POST', '/notes', `action = "handler"\nhandler = "echo"\n${declared}`),
      files: {
        'schema/bodies.json': JSON.stringify({ $defs: { Note: note } }),
        'api/handlers.py': handlers,
      },
    });
    const post = async (body?: unknown, headers = {}) => {
      const { status, json } = await api.ask('POST', '/notes', { body, headers });
      return [status, json];
    };
    expect(await post({ title: 'a', more: 1 })).toMatchObject([201, { body: { title: 'a' } }]);
    expect(await post({ rank: 1 })).toEqual([422, { message: '/title is missing', status: 422 }]);
    expect(await post()).toEqual([422, { message: '/title is missing', status: 422 }]);
    expect(await post([])).toMatchObject([422, { message: expect.stringContaining('The body') }]);
    const wrong = await post({ title: 'a', rank: 'x' });
    expect(wrong).toMatchObject([422, { message: expect.stringContaining('/rank') }]);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await post('rank=7', form)).toMatchObject([201, { body: { rank: '7' } }]);
    const [refused] = (await api.requests()).filter(({ status }) => status === 422);
    expect(refused).toMatchObject({ operation: 'post_notes' });
  });

  it('causes a 500 if it reads an unknown entity', async () => {
    await serve({
      operations: route('GET', '/x', 'stray'),
      files: { 'api/handlers.py': handlers },
    });
    expect(await api.get('/x')).toMatchObject({ status: 500, json: { error: 'internal' } });
    const reason = expect.stringContaining('no entity "note"');
    expect(await api.requests()).toMatchObject([{ response: { reason } }]);
  });

  it.each([
    ['unsendable', 'Invalid character in header content ["x-title"]'],
    ['unsendable_refusal', 'Header name must be a valid HTTP token ["x title"]'],
    ['interim', '103 is no HTTP status from 200 to 599'],
  ])('changes nothing if its answer cannot be sent over HTTP: %s', async (name, why) => {
    await serve({ operations: route('POST', '/x', name), files: { 'api/handlers.py': handlers } });
    expect(await api.ask('POST', '/x')).toMatchObject({ status: 500, json: { error: 'internal' } });
    expect(api.rows('notes', {})).toEqual([]);
    expect(await api.requests()).toMatchObject([
      { status: 500, changes: {}, response: { reason: expect.stringContaining(why) } },
    ]);
  });
});

describe('handlers and before', () => {
  const handlers = (language: 'py' | 'ts') =>
    language === 'py'
      ? `
def check(ctx):
    ctx.set_header("x-left", 41)
    if ctx.args.get("state") == "refuse":
        ctx.insert("notes", {"id": "none"})
    if ctx.args.get("state") == "stop":
        ctx.respond(429, {"message": "slow down"}, {"retry-after": "7"})
    if ctx.args.get("state") == "fail":
        ctx.insert("notes", {"id": 98, "title": "never"})
        ctx.fail(403, {"message": "no"})
    if ctx.args.get("state") == "raise":
        raise ValueError("broken")
    used = ctx.get("notes", {"id": 99})
    if used is None:
        ctx.insert("notes", {"id": 99, "title": "quota", "stamp": 1})
    else:
        ctx.update("notes", {"id": 99}, {"stamp": used["stamp"] + 1})
    return {"ignored": True}
`
      : `
import type { HandlerContext } from 'svc_env';
export async function check(ctx: HandlerContext) {
  ctx.setHeader('X-Left', 41);
  if (ctx.args.state === 'refuse') await ctx.insert('notes', { id: 'none' });
  if (ctx.args.state === 'stop') ctx.respond(429, { message: 'slow down' }, { 'retry-after': '7' });
  if (ctx.args.state === 'fail') {
    await ctx.insert('notes', { id: 98, title: 'never' });
    ctx.fail(403, { message: 'no' });
  }
  if (ctx.args.state === 'raise') throw new Error('broken');
  const used = await ctx.get('notes', { id: 99 });
  if (used === null) await ctx.insert('notes', { id: 99, title: 'quota', stamp: 1 });
  else await ctx.update('notes', { id: 99 }, { stamp: Number(used.stamp) + 1 });
  return { ignored: true };
}
`;

  it.each(['py', 'ts'] as const)('run in the transaction of the request (%s)', async (language) => {
    const lines = 'action = "update"\nfilter = { id = "id" }';
    await serve({
      api: `before = "check"\nhandlers = "api/hooks.${language}"`,
      operations: list + operation('PATCH', '/notes/{id}', lines),
      notes: notesUpTo(1, () => ({ state: 'open' })),
      files: { [`api/hooks.${language}`]: handlers(language) },
    });
    const stamp = () => api.rows('notes', { id: 99 })[0]?.stamp;
    expect(ids((await api.get('/notes')).json)).toEqual([1, 99]);
    expect(ids((await api.get('/notes?state=open')).json)).toEqual([1]);
    expect(stamp()).toBe(2);
    const stopped = await api.get('/notes?state=stop');
    expect([stopped.status, stopped.json, stopped.headers.get('retry-after')]).toEqual([
      429,
      { message: 'slow down' },
      '7',
    ]);
    expect((await api.get('/notes?state=fail')).status).toBe(403);
    expect(api.rows('notes', { id: 98 })).toEqual([]);
    expect((await api.get('/notes?state=raise')).status).toBe(500);
    const statuses = { open: 200, stop: 429, fail: 403, raise: 500, refuse: 400 };
    for (const [state, status] of Object.entries(statuses)) {
      const { headers, ...answer } = await api.get(`/notes?state=${state}`);
      expect([state, answer.status, headers.get('x-left')]).toEqual([state, status, '41']);
    }
    const before = stamp();
    expect((await api.ask('PATCH', '/notes/5', { body: { title: 'x' } })).status).toBe(404);
    expect(stamp()).toBe(before);
    expect((await api.ask('PATCH', '/notes/1', { body: { title: 'x' } })).status).toBe(200);
    expect(stamp()).toBe(Number(before) + 1);
    await api.get('/nowhere');
    await api.ask('GET', '/notes', { headers: { authorization: 'no' } });
    expect(stamp()).toBe(Number(before) + 1);
  });
});

describe('bearer tokens that a handler mints', () => {
  const handlers = `
def sign_in(ctx):
    return ctx.mint_token()


def sign_out(ctx):
    ctx.revoke_token()
    ctx.respond(204)
`;
  const routes = (auth: string) => ({
    auth,
    api: 'aliases = { "/v1/login" = "/login" }',
    operations: ['sign_in', 'sign_out']
      .map((name) =>
        operation('POST', `/${name}`, `action = "handler"\nhandler = "${name}"`, { entity: '' }),
      )
      .join(''),
    files: { 'api/handlers.py': handlers },
  });
  const oauth2 =
    'scheme = "oauth2"\nclient_id_env = "ID"\nsecret_env = "SECRET"\ntoken_url = "/login/token"\nscope = "all"';

  it('are accepted by the API until they are revoked, while the session’s token stays valid', async () => {
    await serve(routes(oauth2));
    const { token, expires } = (await api.ask('POST', '/sign_in')).json as Record<string, string>;
    expect(new Date(expires ?? '').getTime()).toBeGreaterThan(Date.now());
    const headers = { authorization: `Bearer ${token}` };
    expect((await api.ask('POST', '/sign_in', { headers })).status).toBe(200);
    expect((await api.ask('POST', '/sign_out', { headers })).status).toBe(204);
    expect((await api.ask('POST', '/sign_in', { headers })).status).toBe(401);
    expect((await api.ask('POST', '/sign_out')).status).toBe(204);
    expect((await api.ask('POST', '/sign_in')).status).toBe(200);
    // An alias applies to the token path, too.
    expect((await api.ask('POST', '/v1/login/token')).json).toMatchObject({
      error: 'invalid_client',
    });
  });

  it('cannot be minted in a world with another scheme', async () => {
    await serve({ ...routes('scheme = "none"'), api: '' });
    expect((await api.ask('POST', '/sign_in')).status).toBeGreaterThanOrEqual(400);
  });
});
