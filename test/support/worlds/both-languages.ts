/** The same small world with code in Python and in TypeScript: tools, handlers, helpers, and graders. */
export const python = `
from svc_env import get, query, count, insert, update, delete, fail, clock, ids, webhooks, Refused

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
        "pointed": [row["id"] for row in query("things", {"/owner/login": "bob"}, order_by="-/id")],
        "page": [row["id"] for row in query("things", limit=1, offset=1)],
        "counts": [count("things"), count("things", {"owner.login": "bob"})],
        "next": ids.next("things", "id"),
        "nextTwo": ids.next("things", "id", {"name": "zwei"}),
        "uuid": ids.uuid(),
        "now": clock.now(),
    }

def sends():
    body = {"number": 7, "labels": ["bug"]}
    webhooks.deliver("issue.closed", body, {"repository": "berth"})
    body["number"] = 8
    webhooks.deliver("ping", None, delivery_id="d-7")

def sends_nonsense(type, scope, id=None):
    webhooks.deliver(type, {}, scope, id)

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

export const typescript = `
import { get, query, count, insert, update, remove, fail, clock, ids, webhooks, Refused } from 'svc_env';

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
  const pointed = await query<{ id: number }>('things', {
    where: { '/owner/login': 'bob' }, orderBy: '-/id',
  });
  return {
    gone: await get('things', { id: 1 }),
    changed,
    bobs: bobs.map((row) => row.id),
    pointed: pointed.map((row) => row.id),
    page: (await query('things', { limit: 1, offset: 1 })).map((row) => row.id),
    counts: [await count('things'), await count('things', { 'owner.login': 'bob' })],
    next: await ids.next('things', 'id'),
    nextTwo: await ids.next('things', 'id', { name: 'zwei' }),
    uuid: await ids.uuid(),
    now: await clock.now(),
  };
}

export async function sends() {
  const body = { number: 7, labels: ['bug'] };
  const first = webhooks.deliver('issue.closed', body, { repository: 'berth' });
  body.number = 8;
  await first;
  await webhooks.deliver('ping', null, null, 'd-7');
}

export const sends_nonsense = ({ type, scope, id }) => webhooks.deliver(type, {}, scope, id);

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

export const handlers = {
  python: `
def shown(ctx):
    return [ctx.method, ctx.path, ctx.route, ctx.args, ctx.body, ctx.headers, ctx.media_type, ctx.content_type]

def created(ctx):
    row = ctx.insert("things", {"id": ctx.ids.next("things", "id", within={}), "name": ctx.body["name"]})
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

def file(ctx):
    ctx.respond(200, "Ünï".encode(), {"content-type": "text/html"})

def odd_bytes(ctx):
    ctx.respond(200, b"\\xff")
`,
  typescript: `
import type { HandlerContext } from 'svc_env';
export const shown = (ctx: HandlerContext) => [ctx.method, ctx.path, ctx.route, ctx.args, ctx.body, ctx.headers, ctx.mediaType, ctx.contentType];
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
export const file = (ctx: HandlerContext) =>
  ctx.respond(200, Buffer.from('Ünï'), { 'content-type': 'text/html' });
export const odd_bytes = (ctx: HandlerContext) => ctx.respond(200, Uint8Array.of(0xff));
`,
};

export const labels = {
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

export const graders = {
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
