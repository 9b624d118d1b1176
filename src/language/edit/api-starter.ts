/**
 * Files of the world that `init --api` writes: a small vendor with an HTTP API. It has two related entities, routes
 * with pagination and a filter, a handler, a webhook, a page, a task with its solution, and tests. Its code is
 * TypeScript, so it runs without Python.
 */
import type { StarterNames } from './starter.ts';

const worldJson = ({ slug }: StarterNames): string => `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:svc:world:${slug}",
  "$comment": "The data model and the tools of the world. Shapes that are used twice stand in $defs.",
  "$defs": {
    "Customer": {
      "type": "object",
      "additionalProperties": false,
      "required": ["id", "name", "email"],
      "properties": {
        "id": { "type": "integer", "minimum": 1 },
        "name": { "type": "string", "minLength": 1 },
        "email": { "type": "string", "format": "email" }
      }
    },
    "Invoice": {
      "type": "object",
      "additionalProperties": false,
      "required": ["id", "customer_id", "amount_cents", "due_on", "status"],
      "properties": {
        "id": { "type": "integer", "minimum": 1 },
        "customer_id": { "type": "integer" },
        "amount_cents": { "type": "integer", "minimum": 1 },
        "due_on": { "type": "string", "format": "date" },
        "status": { "type": "string", "enum": ["open", "paid"] },
        "paid_at": { "type": ["string", "null"], "format": "date-time" }
      }
    },
    "InvoiceAnswer": {
      "description": "An invoice as the API answers it.",
      "type": "object",
      "additionalProperties": false,
      "required": ["data"],
      "properties": { "data": { "$ref": "#/$defs/Invoice" } }
    },
    "WebhookEndpoint": {
      "type": "object",
      "additionalProperties": false,
      "required": ["id", "url", "secret"],
      "properties": {
        "id": { "type": "integer", "minimum": 1 },
        "url": { "type": "string", "format": "uri" },
        "secret": { "type": "string", "minLength": 1 }
      }
    }
  },
  "x-svc": {
    "version": 1,
    "domain_version": "1",
    "package": { "id": "${slug}", "version": "0.1.0" },
    "entities": {
      "customers": {
        "schema": { "$ref": "#/$defs/Customer" },
        "primary_key": ["id"],
        "unique": [["email"]]
      },
      "invoices": {
        "schema": { "$ref": "#/$defs/Invoice" },
        "primary_key": ["id"],
        "relationships": [
          { "fields": ["customer_id"], "target": "customers", "on_delete": "restrict" }
        ]
      },
      "webhook_endpoints": {
        "schema": { "$ref": "#/$defs/WebhookEndpoint" },
        "primary_key": ["id"]
      }
    },
    "tools": {
      "get_invoice": {
        "description": "One invoice.",
        "input": {
          "type": "object",
          "additionalProperties": false,
          "required": ["id"],
          "properties": { "id": { "type": "integer" } }
        },
        "output": { "$ref": "#/$defs/InvoiceAnswer" }
      },
      "pay_invoice": {
        "description": "Records that an open invoice was paid.",
        "input": {
          "type": "object",
          "additionalProperties": false,
          "required": ["id"],
          "properties": { "id": { "type": "integer" } }
        },
        "output": { "$ref": "#/$defs/InvoiceAnswer" }
      }
    }
  }
}
`;

const environmentToml = ({ tomlName }: StarterNames): string => `\
# What this directory is: a world in the language svc-world/1. Its data model and its tools are in
# schema/world.json, its routes in connector.toml, its rows in data/.

[schema]
language = "svc-world/1"

[environment]
name = ${tomlName}
kind = "mock-tools"
connector = "custom"

[tools]
# The same names as "tools" of schema/world.json, each exactly once. These two are operations of
# connector.toml. A tool can also be a function of its name in tools.py or tools.ts.
serve = ["get_invoice", "pay_invoice"]
`;

const connectorToml = ({ slug }: StarterNames): string => `\
[connector]
slug = "${slug}"
base_url = "https://api.${slug}.example"

[auth]
scheme = "bearer"
secret_env = "VENDOR_TOKEN" # read only when the real vendor is asked

[api]
envelope = "data" # the key under which rows are answered
page = "cursor"
handlers = "api/handlers.ts"

[ui]
static = "ui" # compiling writes a page for people into it

[webhooks] # which rows are subscriptions, and how deliveries to them are signed
subscriptions = "webhook_endpoints"
url = "url"
secret = "secret"
signing = "standard-webhooks"

[[operations]]
name = "list_customers"
path = "/customers"
entity = "customers"

[[operations]]
name = "list_invoices" # GET /invoices?status=open&limit=2, then &cursor=<cursor>
path = "/invoices"
params = ["customer_id", "status"]
entity = "invoices"
api = { filter = { customer_id = "customer_id", status = "status" } }

[[operations]]
name = "get_invoice"
path = "/invoices/{id}"
entity = "invoices"
api = { filter = { id = "id" }, single = true }

[[operations]]
name = "create_invoice"
method = "POST"
path = "/invoices"
entity = "invoices"
[operations.api]
action = "create"
body = { customer_id = "customer_id", amount_cents = "amount_cents", due_on = "due_on" }
defaults = { status = "open" }
generate = { id = "int" }

[[operations]]
name = "update_invoice"
method = "PATCH"
path = "/invoices/{id}"
entity = "invoices"
api = { action = "update", filter = { id = "id" }, body = { amount_cents = "amount_cents", due_on = "due_on" } }

[[operations]]
name = "delete_invoice"
method = "DELETE"
path = "/invoices/{id}"
entity = "invoices"
api = { action = "delete", filter = { id = "id" } }

[[operations]]
name = "pay_invoice"
method = "POST"
path = "/invoices/{id}/pay"
entity = "invoices"
api = { action = "handler", handler = "pay_invoice", response = "InvoiceAnswer" }
`;

const handlersTs = `\
// Handlers of routes. Each is named by an operation of connector.toml.
import type { HandlerContext } from 'svc_env';

/** POST /invoices/{id}/pay: marks an open invoice as paid and sends the event invoice.paid. */
export async function pay_invoice(ctx: HandlerContext) {
  const id = Number(ctx.args.id);
  const invoice = Number.isInteger(id) ? await ctx.get('invoices', { id }) : null;
  if (invoice === null) ctx.fail(404, { error: 'not_found' });
  if (invoice.status !== 'open') ctx.fail(409, { error: 'already_paid' });
  const paid_at = await ctx.clock.now();
  const paid = await ctx.update('invoices', { id }, { status: 'paid', paid_at });
  await ctx.deliver('invoice.paid', { type: 'invoice.paid', data: paid });
  return { data: paid };
}
`;

const testTs = `\
// Tests of the world: svc worlds test <folder>. Each begins with the rows of data/.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from 'svc_env/testing';

type Invoice = { id: number; due_on: string };
type Page = { data: Invoice[]; cursor: string };

/** The invoice that an answer holds. */
const invoiceIn = (answer: { json(): unknown }) => (answer.json() as { data: Invoice }).data;

test('open invoices are listed page by page', async () => {
  const ids: number[] = [];
  let cursor = '';
  do {
    const params = { status: 'open', limit: 2, ...(cursor === '' ? {} : { cursor }) };
    const page = (await world.api.get('/invoices', { params })).json() as Page;
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor);
  assert.deepEqual(ids, [2, 3, 5]);
});

test('an invoice is created, changed and deleted', async () => {
  const json = { customer_id: 1, amount_cents: 9900, due_on: '2026-06-01' };
  const made = await world.api.post('/invoices', { json });
  assert.equal(made.status, 201);
  const { id } = invoiceIn(made);
  const changed = await world.api.patch(\`/invoices/\${id}\`, { json: { due_on: '2026-07-01' } });
  assert.equal(invoiceIn(changed).due_on, '2026-07-01');
  assert.equal((await world.api.delete(\`/invoices/\${id}\`)).status, 204);
  assert.equal((await world.api.get(\`/invoices/\${id}\`)).status, 404);
});

test('an invoice is paid once, and the subscriber hears of it', async () => {
  assert.equal((await world.api.post('/invoices/2/pay')).status, 200);
  assert.equal((await world.api.post('/invoices/2/pay')).status, 409);
  const events = (await world.deliveries()).map(({ event }) => event);
  assert.deepEqual(events, ['invoice.paid']);
});

test('the tools answer as the routes do', async () => {
  const read = await world.tools.get_invoice({ id: 2 });
  assert.deepEqual(read, (await world.api.get('/invoices/2')).json());
  const paid = await world.tools.pay_invoice({ id: 2 });
  assert.deepEqual(paid, (await world.api.get('/invoices/2')).json());
});

test('the task is graded as it should be', async () => {
  await world.prove('record-payment');
});
`;

const scenarioToml = `\
description = "Find the customer's invoice and record that it was paid."

[grader]
kind = "assertions"

[[grader.checks]]
name = "the invoice of Northwind is paid"
entity = "invoices"
where = { id = 3, status = "paid" }
changed = ["status", "paid_at"]

[grader.changes] # any other change fails the task
closed = true

[[solution.steps]]
request = { method = "POST", path = "/invoices/3/pay" }
`;

const instruction = `\
Northwind Traders has paid its invoice over 480.00 by bank transfer. Record the payment, and change
nothing else.
`;

const customers = `[
  { "id": 1, "name": "Ada's Bakery", "email": "accounts@ada.example" },
  { "id": 2, "name": "Northwind Traders", "email": "billing@northwind.example" }
]
`;

const invoices = `[
  { "id": 1, "customer_id": 1, "amount_cents": 12000, "due_on": "2026-03-01", "status": "paid", "paid_at": "2026-02-20T09:30:00Z" },
  { "id": 2, "customer_id": 1, "amount_cents": 48000, "due_on": "2026-04-01", "status": "open" },
  { "id": 3, "customer_id": 2, "amount_cents": 48000, "due_on": "2026-04-15", "status": "open" },
  { "id": 4, "customer_id": 2, "amount_cents": 7500, "due_on": "2026-02-15", "status": "paid", "paid_at": "2026-02-10T14:00:00Z" },
  { "id": 5, "customer_id": 2, "amount_cents": 31000, "due_on": "2026-05-01", "status": "open" }
]
`;

const webhookEndpoints = `[
  { "id": 1, "url": "http://localhost:3000/hooks", "secret": "whsec_c2VjcmV0IG9mIHRoZSByZWNlaXZlcg==" }
]
`;

const readme = ({ name }: StarterNames): string => `\
# ${name}

A vendor with an HTTP API that agents act on. It begins with customers, their invoices, and subscriptions to
the event \`invoice.paid\`.

| File | Holds |
| - | - |
| \`schema/world.json\` | the entities, with their fields, keys and references, and the tools |
| \`data/<entity>.json\` | the rows that every session begins with |
| \`connector.toml\` | the routes of the API, its credential, its page and its webhooks |
| \`api/handlers.ts\` | the routes that need code |
| \`scenarios/record-payment/\` | a task: its instruction, its checks and its solution |
| \`tests/\` | tests of the world |

## Try it

- Check it: \`svc worlds schema check .\`
- Run its tests, which also prove the task: \`svc worlds test .\`
- Serve it while you write: \`svc worlds connector serve .\`

## Make it yours

Add the entities that you need, then take those of the example out:

\`\`\`sh
svc worlds schema entity add . projects --field id:integer --field name:string
svc worlds schema entity remove . invoices --uses
svc worlds schema entity remove . customers --uses
\`\`\`

\`--uses\` also removes the rows, routes, tools and tasks that would be left without their entity. Code in
\`api/\` and \`tests/\` stays: the command names the files that still mention it.
`;

/** Returns the files of the HTTP starter, as texts by path. */
export const apiStarterTexts = (names: StarterNames): Record<string, string> => ({
  'README.md': readme(names),
  'api/handlers.ts': handlersTs,
  'connector.toml': connectorToml(names),
  'data/customers.json': customers,
  'data/invoices.json': invoices,
  'data/webhook_endpoints.json': webhookEndpoints,
  'scenarios/record-payment/instruction.md': instruction,
  'scenarios/record-payment/scenario.toml': scenarioToml,
  'schema/world.json': worldJson(names),
  'svc-env.toml': environmentToml(names),
  'tests/invoices.test.ts': testTs,
});
