/**
 * A small world for tests: notes in folders, with a tool for each kind of implementation, a slow tool, and a task that
 * fails until the agent acts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TreeFile } from '#domain/world.ts';

const text = (path: string, content: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(content),
});

const noteSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'folder_id', 'title', 'done'],
  properties: {
    id: { type: 'integer' },
    folder_id: { type: 'integer' },
    title: { type: 'string', minLength: 1 },
    done: { type: 'boolean' },
  },
};

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:test:notes',
  $defs: { Note: noteSchema },
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'notes', version: '1.0.0' },
    entities: {
      folders: {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['id', 'name'],
          properties: { id: { type: 'integer' }, name: { type: 'string' } },
        },
        primary_key: ['id'],
        unique: [['name']],
      },
      notes: {
        schema: { $ref: '#/$defs/Note' },
        primary_key: ['id'],
        relationships: [{ fields: ['folder_id'], target: 'folders', on_delete: 'restrict' }],
      },
    },
    tools: {
      list_notes: {
        input: {
          type: 'object',
          additionalProperties: false,
          properties: { folder_id: { type: 'integer' }, limit: { type: 'integer' } },
        },
        output: { type: 'array', items: { $ref: '#/$defs/Note' } },
      },
      create_notes: { input: { $ref: '#/$defs/Note' }, output: { $ref: '#/$defs/Note' } },
      count_slowly: {
        description: 'Adds one note after a pause, and answers how many there are.',
        input: {
          type: 'object',
          additionalProperties: false,
          required: ['milliseconds', 'note_id'],
          properties: { milliseconds: { type: 'integer' }, note_id: { type: 'integer' } },
        },
        output: { type: 'integer' },
      },
    },
  },
};

const toolsPy = `import time

from svc_env import insert, query


def count_slowly(milliseconds, note_id):
    insert("notes", {"id": note_id, "folder_id": 1, "title": "slow", "done": False})
    time.sleep(milliseconds / 1000)
    return len(query("notes"))
`;

export const environmentToml = `[schema]
language = "svc-world/1"

[environment]
name = "Notes"
kind = "mock-tools"

[tools]
serve = ["list_notes", "create_notes", "count_slowly"]
`;

export const scenarioToml = `description = "Finish the open note."

[grader]
kind = "assertions"

[[grader.checks]]
name = "the note is there"
entity = "notes"
where = { id = 99, done = true }
`;

/** Builds the tree of the world `notes`. */
export const notesWorld = (): TreeFile[] => [
  text('schema/world.json', JSON.stringify(worldJson, null, 2)),
  text('svc-env.toml', environmentToml),
  text('tools.py', toolsPy),
  text('data/folders.json', JSON.stringify([{ id: 1, name: 'inbox' }])),
  text('data/notes.json', JSON.stringify([{ id: 1, folder_id: 1, title: 'first', done: false }])),
  text('scenarios/finish/scenario.toml', scenarioToml),
  text('scenarios/finish/instruction.md', 'Add note 99 to the inbox, done.\n'),
];

/** Reads a bundled template as a tree. */
export const templateTree = (slug: string): TreeFile[] => {
  const folder = fileURLToPath(new URL(`../../../src/templates/${slug}`, import.meta.url));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: path.slice(folder.length + 1),
      content: new Uint8Array(readFileSync(path)),
    }));
};

/** Reads the `scenario.toml` of a task that a template bundles. */
export const scenarioText = (slug: string, task: string): string => {
  const file = `../../../src/templates/${slug}/scenarios/${task}/scenario.toml`;
  return readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8');
};

/** Encodes a tree for the body of `POST /worlds`. */
export const encodeTree = (tree: TreeFile[]) =>
  tree.map(({ path, content }) => ({ path, content: Buffer.from(content).toString('base64') }));

/** Builds the world `notes` with so many rows that building a version of it takes a second or two. */
export const slowWorld = (): TreeFile[] => {
  const rows = Array.from({ length: 120_000 }, (_, index) => ({
    id: index + 1,
    folder_id: 1,
    title: `note ${index}`,
    done: false,
  }));
  return [
    ...notesWorld().filter(({ path }) => path !== 'data/notes.json'),
    text('data/notes.json', JSON.stringify(rows)),
  ];
};
