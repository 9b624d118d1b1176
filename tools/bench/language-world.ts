/**
 * A world of any size for measuring compilation: entities of 15 fields each that share definitions and refer to one
 * another, rows for all of them, tools, and operations of every action.
 */
import type { TreeFile } from '../../src/domain/world.ts';

export type WorldSize = { entities: number; rowsPerEntity: number; operations: number };

const entityName = (index: number): string => `records_${index}`;

const definitions = {
  Id: { type: 'integer', minimum: 1 },
  Timestamp: { type: 'string', format: 'date-time' },
  Person: {
    type: 'object',
    additionalProperties: false,
    required: ['login'],
    properties: {
      login: { type: 'string', minLength: 1, maxLength: 40 },
      email: { type: 'string', format: 'email' },
    },
  },
};

const schemaOf = (index: number): Record<string, unknown> => ({
  type: 'object',
  additionalProperties: false,
  required: ['id', 'name', 'state', 'owner', 'labels', 'created_at', `count_${index}`],
  properties: {
    id: { $ref: '#/$defs/Id' },
    parent_id: { type: ['integer', 'null'] },
    name: { type: 'string', minLength: 1, maxLength: 200 },
    state: { enum: ['open', 'closed', `state_${index}`] },
    owner: { $ref: '#/$defs/Person' },
    assignee: { anyOf: [{ $ref: '#/$defs/Person' }, { type: 'null' }] },
    labels: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    code: { type: 'string', pattern: '^[A-Z]+-\\d+$' },
    amount: { type: ['number', 'null'], minimum: 0 },
    is_active: { type: 'boolean' },
    settings: {
      type: 'object',
      additionalProperties: false,
      properties: { color: { type: 'string' }, size: { type: 'integer' } },
    },
    url: { type: 'string', format: 'uri' },
    created_at: { $ref: '#/$defs/Timestamp' },
    updated_at: { anyOf: [{ $ref: '#/$defs/Timestamp' }, { type: 'null' }] },
    [`count_${index}`]: { type: 'integer', minimum: 0 },
  },
});

const entityOf = (index: number): Record<string, unknown> => ({
  schema: { $ref: `#/$defs/Record${index}` },
  primary_key: ['id'],
  unique: [['code'], ['/owner/login', 'name']],
  relationships: [
    {
      fields: ['parent_id'],
      target: entityName(Math.max(0, index - 1)),
      on_delete: 'restrict',
    },
  ],
});

const toolOf = (index: number): Record<string, unknown> => ({
  description: `Lists records of kind ${index}.`,
  input: { type: 'object', additionalProperties: false, properties: { state: { type: 'string' } } },
  output: { type: 'array', items: { $ref: `#/$defs/Record${index}` } },
});

const worldJson = (indexes: readonly number[]): unknown => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:bench:records',
  $defs: {
    ...definitions,
    ...Object.fromEntries(indexes.map((index) => [`Record${index}`, schemaOf(index)])),
  },
  'x-svc': {
    version: 1,
    domain_version: '2025-01',
    package: { id: 'records', version: '1.0.0' },
    entities: Object.fromEntries(indexes.map((index) => [entityName(index), entityOf(index)])),
    tools: Object.fromEntries(indexes.map((index) => [`list_${entityName(index)}`, toolOf(index)])),
  },
});

const rowOf = (index: number, id: number): unknown => ({
  id,
  parent_id: id,
  name: `Record ${id} of ${index}`,
  state: id % 2 === 0 ? 'open' : 'closed',
  owner: { login: `user-${id % 20}`, email: `user-${id % 20}@example.com` },
  assignee: id % 3 === 0 ? null : { login: `user-${id % 7}` },
  labels: ['bug', `label-${id % 5}`],
  code: `REC-${id}`,
  amount: id % 4 === 0 ? null : id / 4,
  is_active: id % 2 === 0,
  settings: { color: 'red', size: id % 10 },
  url: `https://records.example.com/${index}/${id}`,
  created_at: '2025-01-02T03:04:05Z',
  updated_at: null,
  [`count_${index}`]: id % 100,
});

const environmentToml = (indexes: readonly number[]): string => `\
[schema]
language = "svc-world/1"

[environment]
name = "Records"
kind = "mock-tools"

[tools]
serve = ${JSON.stringify(indexes.map((index) => `list_${entityName(index)}`))}
`;

const connectorHead = `\
[connector]
slug = "records"
base_url = "https://api.records.example/v1"

[auth]
scheme = "bearer"
secret_env = "RECORDS_TOKEN"

[redact]
hash = ["email"]
`;

const list = `params = ["state", "owner", "label"]
[operations.api]
filter = { state = "state", owner = "/owner/login", label = "labels" }
match = { label = "contains" }`;
const create = `[operations.api]
action = "create"
body = { name = "record.name", "owner.login" = "record.owner", labels = "record.labels" }
defaults = { state = "open", amount = 1.5 }
generate = { id = "int", created_at = "now" }`;
const update = `[operations.api]
action = "update"
filter = { id = "id" }
body = { name = "record.name", state = "record.state" }`;

/** Builds an operation: the first of an entity lists, the second creates, the others update. */
const operationOf = (position: number, entities: number): string => {
  const index = position % entities;
  const round = Math.floor(position / entities);
  const [method, path, rest] = [
    ['GET', `/records/${index}`, list],
    ['POST', `/records/${index}`, create],
    ['PATCH', `/records/${index}/v${round}/{id}`, update],
  ][Math.min(round, 2)] as [string, string, string];
  const head = `name = "operation_${position}"\nmethod = "${method}"\npath = "${path}"`;
  return `[[operations]]\n${head}\nentity = "${entityName(index)}"\n${rest}\n`;
};

const file = (path: string, text: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(text),
});

/** Builds the files of a world of a given size. */
export const generateWorld = ({ entities, rowsPerEntity, operations }: WorldSize): TreeFile[] => {
  const indexes = Array.from({ length: entities }, (_, index) => index);
  const ids = Array.from({ length: rowsPerEntity }, (_, row) => row + 1);
  const positions = Array.from({ length: operations }, (_, position) => position);
  const connector = positions.map((position) => operationOf(position, entities)).join('\n');
  return [
    file('schema/world.json', JSON.stringify(worldJson(indexes), null, 1)),
    file('svc-env.toml', environmentToml(indexes)),
    file('connector.toml', `${connectorHead}\n${connector}`),
    ...indexes.map((index) =>
      file(
        `data/${entityName(index)}.json`,
        JSON.stringify(
          ids.map((id) => rowOf(index, id)),
          null,
          1,
        ),
      ),
    ),
  ];
};
