/**
 * A small world for the tests of the world language: a board with lists and cards. It uses each rule of the language at
 * least once, so that a test can break any rule by the smallest possible change.
 */
import type { TreeFile } from '#domain/world.ts';
import { type CompileResult, compileTree } from '#language/compile/compile.ts';
import type { Contract } from '#language/contract.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests reach into the document to break it
type Loose = any;

/** Files of a tree. JSON documents are held as values, all others as text or as bytes. */
export type SmallWorld = {
  json: Record<string, Loose>;
  text: Record<string, string>;
  bytes: Record<string, Uint8Array>;
};

const worldJson = (): Loose => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:test:board',
  $defs: {
    Id: { type: 'integer', minimum: 1 },
    Card: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'list_id', 'title', 'state', 'author', 'labels', 'created_at'],
      properties: {
        id: { $ref: '#/$defs/Id' },
        list_id: { $ref: '#/$defs/Id' },
        title: { type: 'string', minLength: 1 },
        state: { enum: ['open', 'done'] },
        author: { $ref: 'people.json#/$defs/Person' },
        labels: { type: 'array', items: { type: 'string' } },
        estimate: { type: ['number', 'null'] },
        cover: { anyOf: [{ $ref: '#/$defs/Cover' }, { type: 'null' }] },
        code: { type: ['string', 'null'], pattern: '^[A-Z]+-\\d+$' },
        done_early: { type: 'boolean' },
        created_at: { type: 'string', format: 'date-time' },
      },
    },
    Cover: {
      type: 'object',
      additionalProperties: false,
      required: ['url'],
      properties: { url: { type: 'string' }, size: { type: 'integer' } },
    },
    Hook: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'config', 'active'],
      properties: {
        id: { $ref: '#/$defs/Id' },
        config: { $ref: '#/$defs/Receiver' },
        events: { type: 'array', items: { type: 'string' } },
        lists: { type: 'array', items: { $ref: '#/$defs/Id' } },
        active: { type: 'boolean' },
      },
    },
    Receiver: {
      type: 'object',
      additionalProperties: false,
      required: ['url'],
      properties: { url: { type: 'string', format: 'uri' }, secret: { type: 'string' } },
    },
  },
  'x-svc': {
    version: 1,
    domain_version: '2025-01',
    package: { id: 'board', version: '1.0.0' },
    entities: {
      lists: {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['id', 'name'],
          properties: { id: { $ref: '#/$defs/Id' }, name: { type: 'string' } },
        },
        primary_key: ['id'],
        unique: [['name']],
      },
      cards: {
        schema: { $ref: '#/$defs/Card' },
        primary_key: ['id'],
        unique: [['/author/login', 'title']],
        relationships: [{ fields: ['list_id'], target: 'lists', on_delete: 'restrict' }],
      },
      hooks: { schema: { $ref: '#/$defs/Hook' }, primary_key: ['id'] },
    },
    tools: {
      summarize: {
        description: 'How many cards there are.',
        input: { type: 'object', additionalProperties: false, properties: {} },
        output: { type: 'object' },
      },
      'cards.archive': { input: { type: 'object' }, output: true },
      get_card: {
        input: {
          type: 'object',
          required: ['card_id'],
          properties: { card_id: { $ref: '#/$defs/Id' } },
        },
        output: { $ref: '#/$defs/Card' },
      },
      list_cards: {
        input: { type: 'object', properties: { state: { type: 'string' } } },
        output: { type: 'array', items: { $ref: '#/$defs/Card' } },
      },
    },
  },
});

const peopleJson = (): Loose => ({
  $defs: {
    Person: {
      type: 'object',
      additionalProperties: false,
      required: ['login'],
      properties: { login: { $ref: '#/$defs/Login' }, reports_to: { $ref: '#/$defs/Person' } },
    },
    Login: { type: 'string', maxLength: 40 },
  },
});

const card = (id: number, more: Loose = {}): Loose => ({
  id,
  list_id: 1,
  title: `Card ${id}`,
  state: 'open',
  author: { login: 'ada' },
  labels: [],
  created_at: '2025-01-02T03:04:05Z',
  ...more,
});

const environmentToml = `\
[schema]
language = "svc-world/1"

[environment]
name = "Board"
kind = "mock-tools"
db = "sqlite"
connector = "custom"

[db]
engine = "sqlite"

[tools]
serve = ["summarize", "cards.archive", "get_card", "list_cards"]

[actions]
on_push = ["tests"]

[dependencies]
chat = "team-chat@main"

[dependencies.crm]
pin = "crm@3"
task = "renew"
tools = ["find_contact"]
entities = { "cards.title" = "deals.name", lists.id = "stages.id" }

[[tasks]]
name = "queried"
instruction = "Finish all cards."
tools = ["list_cards"]
verifier = "all_done"
`;

const connectorToml = `\
[connector]
slug = "board"
base_url = "https://api.board.example/v1"

[auth]
scheme = "header"
name = "X-Api-Key"
secret_env = "BOARD_KEY"
headers = { X-Account = "BOARD_ACCOUNT" }

[capture]
requests_per_minute = 60
max_pages = 3
cursor_param = "cursor"
cursor_field = "meta.next"

[redact]
hash = ["login"]
drop = ["author.email"]
preserve = ["cards_of.*.code"]
round = { estimate = 1 }

[api]
envelope = "data"
not_found = '{"message":"gone"}'
page_size = 50
previous_key = "previous"
page_headers = { total = "X-Total" }
before = "check_quota"

[[operations]]
name = "get_card"
path = "/cards/{card_id}"
entity = "cards"
[operations.api]
filter = { card_id = "id" }
single = true
envelope = ""
sample = { card_id = 1 }

[[operations]]
name = "search_cards"
path = "/cards"
params = ["state", "login", "label", "title", "ids[]"]
entity = "cards"
[operations.api]
filter = { state = "state", login = "/author/login", label = "labels", title = "title", ids = "id" }
match = { label = "contains", title = "prefix" }
page = "cursor"
cursor_absent_when_done = true
not_found = ""
not_found_status = 410

[[operations]]
name = "add_card"
method = "POST"
path = "/lists/{list_id}/cards"
entity = "cards"
[operations.api]
action = "create"
filter = { list_id = "list_id" }
body = { title = "card.title", "author.login" = "by", labels = "card.labels" }
defaults = { state = "open", estimate = 1.5 }
generate = { id = "int", created_at = "now" }

[[operations]]
name = "close_card"
method = "PATCH"
path = "/cards/{card_id}"
entity = "cards"
[operations.api]
action = "update"
filter = { card_id = "id" }
defaults = { state = "done" }

[[operations]]
name = "remove_card"
method = "DELETE"
path = "/cards/{card_id}"
entity = "cards"
[operations.api]
action = "delete"
filter = { card_id = "id" }

[[operations]]
name = "whoami"
path = "/me"
[operations.api]
action = "handler"
handler = "who_am_i"
status = 203

[[operations]]
name = "only_captured"
path = "/reports/"

[[operations]]
name = "list_lists"
path = "/boards/{board_id}/lists"
entity = "lists"
results = "data.lists"
[operations.ingest]
drop = ["color"]
carry_args = { id = "board_id" }
[[operations.ingest.explode]]
field = "cards"
entity = "cards"
carry = { list_id = "id" }
take = { id = "id", title = "name.text" }
[[operations.ingest.explode]]
field = "hook_ids"
entity = "hooks"
take = { id = "" }

[ui]
static = "web/board"
api_path = "/-/api"

[webhooks]
subscriptions = "hooks"
url = "config.url"
events = "events"
secret = "config.secret"
enabled = "active"
scope = { list = "lists" }
signing = "github"
`;

const scenarioToml = `\
description = "Finish a card."

[seed]
mode = "append"

[grader]
kind = "assertions"

[[grader.checks]]
name = "the card is done"
entity = "cards"
where = { id = 3, state = ["done"], author.login = "ada" }
count = 1

[[grader.checks]]
name = "it was closed over the API"
entity = "svc_requests"
where = { via = "api", operation = "close_card" }
`;

const tasksJson = `\
{
  "tasks": [{ "name": "queried-too", "verifier": "verifiers/all_done.sql" }]
}
`;

/** Returns a fresh copy, for a test to change. */
export const smallWorld = (): SmallWorld => ({
  json: {
    'schema/world.json': worldJson(),
    'schema/people.json': peopleJson(),
    'data/lists.json': [
      { id: 1, name: 'Next' },
      { id: 2, name: 'Later' },
    ],
    'data/cards.json': [card(1), card(2, { estimate: 2, cover: { url: 'u' }, code: 'AB-1' })],
    'scenarios/finish/seed/cards.json': [card(3)],
  },
  text: {
    'svc-env.toml': environmentToml,
    'connector.toml': connectorToml,
    'scenarios/finish/scenario.toml': scenarioToml,
    'scenarios/finish/instruction.md': 'Finish card 3.\n',
    'scenarios/verified/scenario.toml': 'name = "verified-by-code"\n',
    'scenarios/verified/checks/verify.py': 'def verify(ctx):\n    return True\n',
    'tools.py': 'def summarize():\n    return {}\n',
    'tools.ts': 'export async function cards_archive(input: object) {\n  return input;\n}\n',
    'api/handlers.py':
      'def who_am_i(ctx):\n    return {}\n\n\ndef check_quota(ctx):\n    return None\n',
    'tests/test_board.py': 'def test_board():\n    pass\n',
    'tasks.json': tasksJson,
    'verifiers/all_done.sql':
      "-- Every card is done.\nselect 'done' as name, count(*) = 0 as passed from cards where state <> 'done';\n",
    'README.md': '# Board\n',
  },
  bytes: {},
});

export const textFile = (path: string, content: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(content),
});

/** Returns the world as the files of a tree. */
export const toTree = ({ json, text, bytes }: SmallWorld): TreeFile[] => [
  ...Object.entries(json).map(([path, value]) => textFile(path, JSON.stringify(value, null, 2))),
  ...Object.entries(text).map(([path, content]) => textFile(path, content)),
  ...Object.entries(bytes).map(([path, content]) => ({ path, content })),
];

/** Compiles the small world after a change. */
export const compileChanged = (
  change: (world: SmallWorld) => void = () => undefined,
): CompileResult => {
  const world = smallWorld();
  change(world);
  return compileTree(toTree(world));
};

/** Returns the contract of the small world after a valid change; throws when it does not compile. */
export const contractOf = (change?: (world: SmallWorld) => void): Contract => {
  const result = compileChanged(change);
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2));
  return result.contract;
};

/** Replaces a text, which must exist, in one of the world's text files. */
export const replaceIn = (world: SmallWorld, file: string, from: string, to: string): void => {
  const before = world.text[file] ?? '';
  if (!before.includes(from)) throw new Error(`${file} does not hold ${JSON.stringify(from)}`);
  world.text[file] = before.replace(from, () => to);
};

/** Returns the small world without its links, since only the service finds linked worlds. */
export const unlinkedWorld = (): SmallWorld => {
  const world = smallWorld();
  const manifest = world.text['svc-env.toml'] ?? '';
  const [before, after] = [manifest.indexOf('[dependencies]'), manifest.indexOf('[[tasks]]')];
  const own = manifest.slice(0, before) + manifest.slice(after);
  return { ...world, text: { ...world.text, 'svc-env.toml': own } };
};
