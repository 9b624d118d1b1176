/**
 * The world that mirrors the vendor of `stand-in-vendor.ts`: a connector for its API, and the data model that its rows
 * fit.
 */
import type { TreeFile } from '#domain/world.ts';
import { textFile } from '#language/edit/tree-text.ts';

const text = { type: 'string' };
const orNull = (type: string) => ({ type: [type, 'null'] });

const entity = (required: string[], properties: object, key: string[], more: object = {}) => ({
  schema: { type: 'object', additionalProperties: false, required, properties },
  primary_key: key,
  ...more,
});

const entities = {
  boards: entity(['id', 'name'], { id: { type: 'integer' }, name: text, note: text }, ['id']),
  cards: entity(
    ['id', 'title', 'state', 'board_id'],
    {
      id: { type: 'integer' },
      title: text,
      state: { enum: ['open', 'done'] },
      owner: { type: 'object', properties: { login: text, email: text } },
      points: { type: 'number' },
      due: orNull('string'),
      board_id: { type: 'integer' },
    },
    ['id'],
    { relationships: [{ fields: ['board_id'], target: 'boards', on_delete: 'restrict' }] },
  ),
  labels: entity(['card_id', 'name'], { card_id: { type: 'integer' }, name: text, color: text }, [
    'card_id',
    'name',
  ]),
  people: entity(
    ['id', 'email'],
    {
      id: text,
      name: text,
      email: text,
      contact: {
        type: 'object',
        properties: { phone: text, backup: { type: 'array', items: text } },
      },
      lat: { type: 'number' },
      self: text,
    },
    ['id'],
  ),
};

const operations = `
[[operations]]
name = "list_boards"
path = "/boards"
entity = "boards"
results = "boards"
[operations.api]
envelope = "boards"

[[operations]]
name = "list_cards"
path = "/boards/{board}/cards"
params = ["state[]"]
entity = "cards"
results = "cards"
[operations.ingest]
drop = ["etag"]
carry_args = { board_id = "board" }
[[operations.ingest.explode]]
field = "labels"
entity = "labels"
carry = { card_id = "id" }
[operations.api]
envelope = "cards"
filter = { board = "board_id", state = "state" }

[[operations]]
name = "get_card"
path = "/cards/{id}"
entity = "cards"
[operations.ingest]
drop = ["etag"]
[[operations.ingest.explode]]
field = "labels"
entity = "labels"
carry = { card_id = "id" }
[operations.api]
single = true
filter = { id = "id" }

[[operations]]
name = "list_people"
path = "/people"
params = ["email"]
entity = "people"
results = "people"
[operations.api]
envelope = "people"
filter = { email = "email" }

[[operations]]
name = "create_board"
method = "POST"
path = "/boards"
entity = "boards"
[operations.api]
action = "create"
body = { name = "name" }
generate = { id = "int" }
`;

export type BoardMirrorOptions = {
  url: string;
  auth?: string;
  capture?: string;
  /** Place of the next cursor, as TOML; by default the field `next`. */
  cursor?: string;
  redact?: string;
  /** Further operations, as TOML. */
  more?: string;
};

export const boardRedact = `
[redact]
hash = ["email"]
drop = ["national_id"]
preserve = ["contact.phone", "contact.backup"]
round = { lat = 2 }
`;

/** Builds the world's tree. */
export const boardMirrorTree = ({
  url,
  auth = '',
  capture = '',
  cursor = 'cursor_field = "next"',
  redact = boardRedact,
  more = '',
}: BoardMirrorOptions): TreeFile[] => {
  const world = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:svc:test:board-mirror',
    $defs: {},
    'x-svc': {
      version: 1,
      domain_version: '1',
      package: { id: 'board-mirror', version: '1' },
      entities,
      tools: {},
    },
  };
  const connector = `[connector]
slug = "board"
base_url = "${url}"
${auth}
[capture]
requests_per_minute = 60000
max_pages = 10
cursor_param = "cursor"
${cursor}
${capture}
${redact}
[api]
page = "cursor"
page_size = 10
hits_key = "total"
cursor_key = "next"
not_found = '{"error": {"code": "no_such_thing", "path": "", "hint": "look again"}}'
${operations}
${more}`;
  return [
    textFile(
      'svc-env.toml',
      '[schema]\nlanguage = "svc-world/1"\n\n[environment]\nname = "Board"\nkind = "mock-tools"\n\n[tools]\nserve = []\n',
    ),
    textFile('schema/world.json', `${JSON.stringify(world, null, 2)}\n`),
    textFile('connector.toml', connector),
  ];
};
