/**
 * Small worlds for the tests of served routes: notes in a notebook, with a field of each kind, behind the `[api]` and
 * operations that a test writes. Also a client that returns complete answers.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, type ServeOptions, serveWorld } from '../host/serve-world.ts';
import { textFile } from './small-world.ts';

const text = { type: 'string' };

const noteSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'title'],
  properties: {
    id: { type: 'integer', minimum: 1 },
    title: { type: 'string', minLength: 1 },
    state: { enum: ['open', 'done'] },
    rank: { type: ['number', 'null'] },
    pinned: { type: 'boolean' },
    tags: { type: 'array', items: text },
    owner: {
      type: 'object',
      additionalProperties: false,
      properties: { login: text, age: { type: 'integer' } },
    },
    key: { type: ['string', 'null'] },
    made_at: { type: ['string', 'null'] },
    stamp: { type: ['integer', 'null'] },
    book_id: { type: ['integer', 'null'] },
  },
};

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:test:notes',
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'notes', version: '1' },
    entities: {
      books: {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['id'],
          properties: { id: { type: 'integer' } },
        },
        primary_key: ['id'],
      },
      notes: {
        schema: noteSchema,
        primary_key: ['id'],
        unique: [['key']],
        relationships: [{ fields: ['book_id'], target: 'books', on_delete: 'restrict' }],
      },
    },
    tools: {},
  },
};

export type ApiWorld = {
  /** Lines of `[api]`. */
  api?: string;
  /** `[[operations]]` tables. */
  operations: string;
  /** Lines of `[auth]`. */
  auth?: string;
  notes?: Row[];
  books?: Row[];
  /** Further files by path. */
  files?: Record<string, string>;
  /** Tools that are operations, by name. */
  tools?: Record<string, Row>;
};

/** Builds the tree of a world with these tables. */
export const apiTree = (world: ApiWorld): TreeFile[] => {
  const { api = '', operations, auth = 'scheme = "none"', notes = [], books = [] } = world;
  const { files = {}, tools = {} } = world;
  const document = { ...worldJson, 'x-svc': { ...worldJson['x-svc'], tools } };
  const connector = `[connector]\nslug = "notes"\nbase_url = "https://notes.example"\n\n[auth]\n${auth}\n\n[api]\n${api}\n\n${operations}\n`;
  const environment = `[schema]\nlanguage = "svc-world/1"\n\n[environment]\nname = "Notes"\nkind = "mock-tools"\n\n[tools]\nserve = ${JSON.stringify(Object.keys(tools))}\n`;
  return [
    textFile('schema/world.json', JSON.stringify(document)),
    textFile('svc-env.toml', environment),
    textFile('connector.toml', connector),
    textFile('data/notes.json', JSON.stringify(notes)),
    textFile('data/books.json', JSON.stringify(books)),
    ...Object.entries(files).map(([path, content]) => textFile(path, content)),
  ];
};

/** Builds an operation's tables; `lines` are those of `[operations.api]`. */
export const operation = (
  method: string,
  path: string,
  lines = '',
  { name = '', params = [] as string[], entity = 'notes' } = {},
): string => `[[operations]]
name = "${name || `${method}${path}`.toLowerCase().replaceAll(/\W+/g, '_').replace(/_$/, '')}"
method = "${method}"
path = "${path}"
params = ${JSON.stringify(params)}
${entity === '' ? '' : `entity = "${entity}"`}
[operations.api]
${lines}
`;

export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed body; undefined when it is not JSON. */
  json: unknown;
};

export type Asked = {
  /** Body of the request: a text or a form is sent unchanged, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
};

export type ApiClient = ServedWorld & {
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Returns the entries of the request ledger, the oldest first. */
  requests(): Promise<Row[]>;
};

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // a test that expects JSON then fails
  }
};

type Body = NonNullable<RequestInit['body']>;

const bodyOf = (body: unknown): Body | undefined => {
  if (body === undefined) return undefined;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData;
  return isRaw ? (body as Body) : JSON.stringify(body);
};

/** Serves a world of notes to a client that sends its token. */
export const serveApi = async (world: ApiWorld, options?: ServeOptions): Promise<ApiClient> => {
  const served = await serveWorld(apiTree(world), options);
  const ask: ApiClient['ask'] = async (method, path, { body, headers = {} } = {}) => {
    const isJson =
      typeof body === 'object' && !(body instanceof Uint8Array || body instanceof FormData);
    const response = await fetch(`${served.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${served.token}`,
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: bodyOf(body) as Body }),
    });
    const answered = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answered,
      json: jsonOf(answered),
    };
  };
  return {
    ...served,
    ask,
    get: (path, headers = {}) => ask('GET', path, { headers }),
    async requests() {
      const { output } = await served.call('state', undefined, { entity: 'svc_requests' });
      return (output as { rows: Row[] }).rows;
    },
  };
};

/** Returns notes with the ids from 1, each with the fields of `more`. */
export const notesUpTo = (count: number, more: (id: number) => Row = () => ({})): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    title: `Note ${index + 1}`,
    ...more(index + 1),
  }));
