/**
 * A help desk that sends webhooks, as a tree: tools in both languages, routes and handlers change tickets with the
 * world's clock and ids, and subscriptions receive the changes.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';

const text = { type: 'string' };
const id = { type: 'integer', minimum: 1 };

const entity = (properties: Row, required: string[]) => ({
  schema: { type: 'object', additionalProperties: false, required, properties },
  primary_key: ['id'],
});

const tool = (properties: Row) => ({
  input: { type: 'object', additionalProperties: false, properties },
  output: true,
});

const tools = {
  open_ticket: tool({ title: text }),
  open_many: tool({ count: { type: 'integer' }, title: text }),
  open_and_fail: tool({ title: text }),
  open_and_crash: tool({ title: text }),
  rename_ticket: tool({ id, title: text }),
  rename_and_throw: tool({ id, title: text }),
  send: tool({
    ...{ type: text, body: true, scope: true, id: text },
    ...{ times: { type: 'integer' }, levels: { type: 'integer' } },
  }),
  open_and_send: tool({ times: { type: 'integer' }, body: true }),
  create_tickets: { input: { type: 'object' }, output: true },
  delete_tickets: tool({ id }),
};

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:test:desk',
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'desk', version: '1' },
    entities: {
      tickets: entity(
        {
          id,
          key: { type: 'string', minLength: 1 },
          title: { type: 'string', minLength: 1, maxLength: 20 },
          state: { enum: ['open', 'closed'] },
          changed_at: { type: 'string', format: 'date-time' },
        },
        ['id', 'key', 'title', 'state', 'changed_at'],
      ),
      hooks: entity(
        {
          id,
          url: text,
          events: { type: ['array', 'null'], items: text },
          secret: { type: ['string', 'null'] },
          active: { type: ['boolean', 'null'] },
          content_type: text,
          teams: { type: 'array', items: { type: ['string', 'integer'] } },
        },
        ['id', 'url'],
      ),
    },
    tools,
  },
};

const environmentToml = `[schema]
language = "svc-world/1"

[environment]
name = "Desk"
kind = "mock-tools"

[tools]
serve = ${JSON.stringify(Object.keys(tools))}
`;

const connectorToml = (webhooks: string) => `[connector]
slug = "desk"
base_url = "https://desk.example"

[api]
page_size = 2
previous_key = "previous"

[[operations]]
name = "list_tickets"
path = "/tickets"
params = ["state"]
entity = "tickets"
[operations.api]
filter = { state = "state" }
envelope = "tickets"
page = "cursor"

[[operations]]
name = "add_ticket"
method = "POST"
path = "/tickets"
entity = "tickets"
[operations.api]
action = "create"
body = { title = "title" }
defaults = { state = "open" }
generate = { id = "int", key = "uuid", changed_at = "now" }

[[operations]]
name = "edit_ticket"
method = "PATCH"
path = "/tickets/{id}"
entity = "tickets"
[operations.api]
action = "update"
filter = { id = "id" }
body = { title = "title" }
generate = { changed_at = "now" }

[[operations]]
name = "remove_ticket"
method = "DELETE"
path = "/tickets/{id}"
entity = "tickets"
[operations.api]
action = "delete"
filter = { id = "id" }

[[operations]]
name = "close_ticket"
method = "POST"
path = "/tickets/{id}/close"
[operations.api]
action = "handler"
handler = "close_ticket"

[[operations]]
name = "answer"
method = "POST"
path = "/answers/{status}"
[operations.api]
action = "handler"
handler = "answer"
${webhooks}`;

const toolsPy = `import os

from svc_env import Refused, clock, fail, ids, insert, webhooks


def open_ticket(title="Help"):
    ticket = insert("tickets", {
        "id": ids.next("tickets", "id"), "key": ids.uuid(), "title": title, "state": "open",
        "changed_at": clock.now(),
    })
    webhooks.deliver("ticket.opened", ticket, {"team": title})
    return ticket


def open_many(count=2, title="Help"):
    return [open_ticket(title)["key"] for _ in range(count)]


def open_and_fail(title="Help"):
    open_ticket(title)
    fail("the desk is closed", code="closed")


def open_and_crash(title="Help"):
    open_ticket(title)
    os._exit(3)


def send(type="ping", body=None, scope=None, times=1, levels=0, id=None):
    for _ in range(levels):
        body = [body]
    for _ in range(times):
        webhooks.deliver(type, body, scope, id)


def open_and_send(times=1, body=None):
    """Goes on whatever the webhooks say."""
    ticket = open_ticket("Sent")
    try:
        send(times=times, body=body)
    except Refused:
        pass
    return ticket
`;

const toolsTs = `import { clock, ids, update, webhooks } from 'svc_env';

type Input = { id: number; title: string };

export async function rename_ticket({ id, title }: Input) {
  const patch = { title, key: await ids.uuid(), changed_at: await clock.now() };
  const ticket = await update('tickets', { id }, patch);
  await webhooks.deliver('ticket.renamed', ticket);
  return ticket;
}

export async function rename_and_throw(input: Input) {
  await rename_ticket(input);
  throw new RangeError('out of ink');
}
`;

const handlersPy = `def close_ticket(ctx):
    ticket = ctx.get("tickets", {"id": int(ctx.args["id"])})
    if ticket is None:
        ctx.fail(404, {"message": "no such ticket"})
    patch = {"state": "closed", "changed_at": ctx.clock.now()}
    closed = ctx.update("tickets", {"id": ticket["id"]}, patch)
    ctx.deliver("ticket.closed", {**closed, "receipt": ctx.ids.uuid()})
    if ticket["state"] == "closed":
        ctx.fail(409, {"message": "closed already"})
    return closed


def answer(ctx):
    ctx.deliver("answered", ctx.body)
    ctx.respond(int(ctx.args["status"]), {})
`;

/** Initial rows of the world; the test adds webhooks. */
const firstTicket = {
  id: 1,
  key: 'first',
  title: 'Printer',
  state: 'open',
  changed_at: '2026-01-01T00:00:00Z',
};

const usualWebhooks = `
[webhooks]
subscriptions = "hooks"
url = "url"
events = "events"
secret = "secret"
enabled = "active"
scope = { team = "teams" }
signing = "hmac-sha256"
signature_header = "X-Signature"
`;

/** Builds the tree with these subscriptions, and with the given table `[webhooks]`, or none. */
export const hookedWorld = (hooks: readonly Row[], webhooks = usualWebhooks): TreeFile[] => {
  const files = {
    'schema/world.json': JSON.stringify(worldJson),
    'svc-env.toml': environmentToml,
    'connector.toml': connectorToml(webhooks),
    'data/tickets.json': JSON.stringify([firstTicket]),
    'data/hooks.json': JSON.stringify(hooks),
    'tools.py': toolsPy,
    'tools.ts': toolsTs,
    'api/handlers.py': handlersPy,
  };
  return Object.entries(files).map(([path, content]) => ({
    path,
    content: new TextEncoder().encode(content),
  }));
};
