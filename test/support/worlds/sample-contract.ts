/**
 * A small contract for tests of the store and the host: users own repositories, repositories hold issues. It has the
 * cases that the store must handle: a key of two fields, a nested unique list, a nullable foreign key, and a foreign
 * key that refers to its own entity.
 */
import type { ColumnType, Contract, EntityContract, JsonSchema, Row } from '#language/contract.ts';

const columnTypes: Record<string, ColumnType> = {
  string: 'TEXT',
  integer: 'INTEGER',
  boolean: 'INTEGER',
  number: 'REAL',
};

const scalarType = (schema: JsonSchema): ColumnType | undefined => {
  const types = [schema.type].flat().filter((type) => type !== 'null');
  return types.length === 1 ? columnTypes[String(types[0])] : undefined;
};

type EntityParts = Partial<Omit<EntityContract, 'name' | 'schema' | 'columns'>> & {
  properties: Record<string, JsonSchema>;
  optional?: string[];
};

/** Builds an entity of a closed object, with the columns that its scalar fields get. */
export const sampleEntity = (name: string, parts: EntityParts): EntityContract => ({
  name,
  schema: {
    type: 'object',
    properties: parts.properties,
    required: Object.keys(parts.properties).filter((field) => !parts.optional?.includes(field)),
    additionalProperties: false,
  },
  primaryKey: parts.primaryKey ?? ['id'],
  unique: parts.unique ?? [],
  relationships: parts.relationships ?? [],
  columns: Object.entries(parts.properties).flatMap(([field, schema]) => {
    const type = scalarType(schema);
    return type === undefined ? [] : [{ name: field, type }];
  }),
});

const string = { type: 'string' };
const integer = { type: 'integer' };

export const sampleEntities: EntityContract[] = [
  sampleEntity('users', {
    primaryKey: ['login'],
    properties: {
      login: string,
      id: integer,
      profile: { type: 'object', properties: { email: string } },
    },
    optional: ['profile'],
    unique: [[['id']], [['profile', 'email']]],
  }),
  sampleEntity('repos', {
    primaryKey: ['owner', 'name'],
    properties: { owner: string, name: string, private: { type: 'boolean' } },
    relationships: [{ fields: ['owner'], target: 'users' }],
  }),
  sampleEntity('issues', {
    properties: {
      id: integer,
      owner: string,
      repo: string,
      number: integer,
      title: string,
      state: { enum: ['open', 'closed'], type: 'string' },
      labels: { type: 'array', items: string },
      assignee: { type: ['string', 'null'] },
      duplicate_of: { type: ['integer', 'null'] },
    },
    optional: ['labels', 'assignee', 'duplicate_of'],
    unique: [[['owner'], ['repo'], ['number']]],
    relationships: [
      { fields: ['owner', 'repo'], target: 'repos' },
      { fields: ['assignee'], target: 'users' },
      { fields: ['duplicate_of'], target: 'issues' },
    ],
  }),
];

/** Returns the sample contract, with members replaced. */
export const sampleContract = (parts: Partial<Contract> = {}): Contract => ({
  language: 'svc-world/1',
  name: 'sample',
  package: { id: 'sample', version: '1' },
  domainVersion: '1',
  definitions: {},
  entities: sampleEntities,
  tools: [],
  api: null,
  vendor: null,
  redact: null,
  webhooks: null,
  ui: null,
  dependencies: [],
  onPush: [],
  tasks: [],
  ...parts,
});

/** Rows that the sample contract accepts. */
export const sampleRows: Record<string, Row[]> = {
  users: [
    { login: 'ann', id: 1, profile: { email: 'ann@example.test' } },
    { login: 'bob', id: 2 },
  ],
  repos: [
    { owner: 'ann', name: 'engine', private: false },
    { owner: 'bob', name: 'site', private: true },
  ],
  issues: [
    {
      id: 10,
      owner: 'ann',
      repo: 'engine',
      number: 1,
      title: 'Crash at start',
      state: 'open',
      labels: ['bug', 'p1'],
      assignee: 'bob',
    },
    {
      id: 11,
      owner: 'ann',
      repo: 'engine',
      number: 2,
      title: 'Docs are thin',
      state: 'open',
      labels: [],
      assignee: null,
    },
    {
      id: 12,
      owner: 'bob',
      repo: 'site',
      number: 1,
      title: 'crash on load',
      state: 'closed',
      duplicate_of: 10,
    },
  ],
};
