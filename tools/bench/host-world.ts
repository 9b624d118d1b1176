/**
 * The data for comparing the world host with its peers: 1,000 notes of seven fields, each referring to a list; as a
 * world, and as plain rows.
 */
import { createHash } from 'node:crypto';
import type { Digest, TreeFile } from '../../src/domain/world.ts';
import { encodeBundle, selectUserCode } from '../../src/language/artifacts/bundle.ts';
import { compileTree } from '../../src/language/compile/compile.ts';
import type { Contract } from '../../src/language/contract.ts';
import { buildSnapshot, type Rows } from '../../src/store/snapshot.ts';

export type Note = {
  id: string;
  list_id: number;
  title: string;
  state: 'open' | 'done';
  author: string;
  priority: number;
  created_at: string;
};

export const noteCount = 1_000;
export const pageRows = 100;
const listCount = 10;
const authors = ['ann', 'ben', 'cleo', 'dov', 'eve', 'finn'];

/** Returns the id of the note at an index from 0. */
export const noteId = (index: number): string => `note-${index + 1}`;

/** Returns a note without its id, which a server assigns. */
export const newNote = (index: number): Omit<Note, 'id'> => ({
  list_id: (index % listCount) + 1,
  title: `Note ${index + 1}: ask the harbour master about berth ${index % 47}`,
  state: index % 3 === 0 ? 'done' : 'open',
  author: authors[index % authors.length] ?? '',
  priority: index % 5,
  created_at: new Date(Date.UTC(2026, 0, 1) + index * 3_600_000).toISOString(),
});

export const notesOf = (count: number): Note[] =>
  Array.from({ length: count }, (_, index) => ({ id: noteId(index), ...newNote(index) }));

const lists = Array.from({ length: listCount }, (_, index) => ({
  id: index + 1,
  name: `List ${index + 1}`,
}));

const id = { type: 'integer', minimum: 1 };
const text = { type: 'string', minLength: 1 };
const object = { type: 'object', additionalProperties: false };

const noteProperties = {
  id: text,
  list_id: id,
  title: { ...text, maxLength: 200 },
  state: { enum: ['open', 'done'] },
  author: text,
  priority: { type: 'integer', minimum: 0, maximum: 4 },
  created_at: { type: 'string', format: 'date-time' },
};

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:bench:notes',
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'bench-notes', version: '1' },
    entities: {
      lists: {
        schema: { ...object, required: ['id', 'name'], properties: { id, name: text } },
        primary_key: ['id'],
      },
      notes: {
        schema: { ...object, required: Object.keys(noteProperties), properties: noteProperties },
        primary_key: ['id'],
        relationships: [{ fields: ['list_id'], target: 'lists', on_delete: 'restrict' }],
      },
    },
    tools: {},
  },
};

const environmentToml = `[schema]
language = "svc-world/1"

[environment]
name = "Notes"
kind = "mock-tools"

[tools]
serve = []
`;

const connectorToml = `[connector]
slug = "bench-notes"
base_url = "https://notes.example"

[auth]
scheme = "bearer"
secret_env = "NOTES_TOKEN"

[api]
envelope = ""

[[operations]]
name = "list_notes"
path = "/notes"
entity = "notes"
[operations.api]
page = "offset"

[[operations]]
name = "get_note"
path = "/notes/{id}"
entity = "notes"
[operations.api]
filter = { id = "id" }
single = true
sample = { id = "note-1" }

[[operations]]
name = "create_note"
method = "POST"
path = "/notes"
entity = "notes"
[operations.api]
action = "create"
status = 201
single = true
generate = { id = "uuid" }

[[operations]]
name = "update_note"
method = "PATCH"
path = "/notes/{id}"
entity = "notes"
[operations.api]
action = "update"
filter = { id = "id" }
single = true
sample = { id = "note-1" }
`;

/** Builds a file of a tree. */
export const file = (path: string, content: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(content),
});

/** Tree of the world, without its rows. */
const tree = [
  file('schema/world.json', JSON.stringify(worldJson)),
  file('svc-env.toml', environmentToml),
  file('connector.toml', connectorToml),
];

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** A version of a world, as the two blobs that a host loads. */
export type BuiltVersion = {
  contract: Contract;
  bundle: Digest;
  snapshot: Digest;
  blobs: ReadonlyMap<Digest, Uint8Array>;
};

/** Builds a version of the world of a tree, with these rows besides its own. */
export const buildVersion = (tree: readonly TreeFile[], rows: Rows = {}): BuiltVersion => {
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems.slice(0, 5)));
  const { contract, baseRows } = compiled;
  const bundle = encodeBundle({ contract, files: selectUserCode(contract, tree) });
  const snapshot = buildSnapshot(contract, { ...baseRows, ...rows }).bytes;
  const blobs = new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes]));
  return { contract, bundle: digestOf(bundle), snapshot: digestOf(snapshot), blobs };
};

/** Builds a version of the world with this many notes. */
export const buildWorld = (count: number): BuiltVersion =>
  buildVersion(tree, { lists, notes: notesOf(count) });
