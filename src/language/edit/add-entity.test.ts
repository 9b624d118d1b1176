import { describe, expect, it } from 'vitest';
import { smallWorld, toTree } from '#test/support/worlds/small-world.ts';
import { compileTree } from '../compile/compile.ts';
import { addEntity, type NewEntity } from './add-entity.ts';
import { initTree } from './init.ts';
import { replaceFiles, textAt, textFile } from './tree-text.ts';

const starter = initTree({ name: 'Starter' });

const added = (entity: NewEntity, files = starter) => {
  const result = addEntity(files, entity);
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2));
  return { ...result, tree: replaceFiles(files, result.files) };
};

const refused = (entity: NewEntity, files = starter) => {
  const result = addEntity(files, entity);
  return result.ok ? [] : result.problems;
};

describe('addEntity', () => {
  it('adds an entity for which only a name is given', () => {
    const { tree, files, changes } = added({ name: 'users' });
    expect(files.map(({ path }) => path)).toEqual(['schema/world.json']);
    const before = textAt(starter, 'schema/world.json');
    const addition = `,
      "users": {
        "schema": {
          "type": "object",
          "additionalProperties": false,
          "required": ["id"],
          "properties": { "id": { "type": "integer" } }
        },
        "primary_key": ["id"]
      }
    },
    "tools"`;
    expect(textAt(tree, 'schema/world.json')).toBe(
      before.replace(/\n {4}\},\n {4}"tools"/, () => addition),
    );
    expect(changes).toMatchObject([
      { file: 'schema/world.json', pointer: '/x-svc/entities/users', kind: 'added' },
    ]);
    expect(compileTree(tree).ok).toBe(true);
  });

  it('declares the type and format of each field, and whether it may be null or absent', () => {
    const { tree } = added({
      name: 'users',
      primaryKey: ['login', 'realm'],
      fields: [
        { name: 'login', type: 'string' },
        { name: 'realm', type: 'integer' },
        { name: 'seen_at', type: 'date-time', nullable: true },
        { name: 'tags', type: 'array', required: false },
      ],
    });
    const result = compileTree(tree);
    const users = result.ok && result.contract.entities.find(({ name }) => name === 'users');
    expect(users).toMatchObject({
      primaryKey: ['login', 'realm'],
      schema: {
        required: ['login', 'realm', 'seen_at'],
        properties: {
          login: { type: 'string' },
          realm: { type: 'integer' },
          seen_at: { type: ['string', 'null'], format: 'date-time' },
          tags: { type: 'array' },
        },
      },
    });
  });

  it('adds a key before the other fields if none is given', () => {
    const { tree } = added({ name: 'users', fields: [{ name: 'login', type: 'string' }] });
    const result = compileTree(tree);
    const users = result.ok && result.contract.entities.find(({ name }) => name === 'users');
    expect(users).toMatchObject({ primaryKey: ['id'], schema: { required: ['id', 'login'] } });
  });

  it.each<[NewEntity, string, string]>([
    [{ name: 'notes' }, '/x-svc/entities/notes', 'entity_exists'],
    [{ name: 'Notes' }, '/x-svc/entities/Notes', 'name_collision'],
    [{ name: 'my-notes' }, '/x-svc/entities/my-notes', 'bad_name'],
    [{ name: 'svc_notes' }, '/x-svc/entities/svc_notes', 'reserved_name'],
    [{ name: '__proto__' }, '/x-svc/entities/__proto__', 'bad_name'],
    [{ name: 'constructor' }, '/x-svc/entities/constructor', 'reserved_name'],
    [
      { name: 'a', fields: [{ name: 'payload', type: 'string' }] },
      '/x-svc/entities/a/schema/properties/payload',
      'reserved_name',
    ],
    [
      { name: 'a', fields: [{ name: '__proto__', type: 'string' }] },
      '/x-svc/entities/a/schema/properties/__proto__',
      'reserved_name',
    ],
    [{ name: 'a', primaryKey: ['key'] }, '/x-svc/entities/a/primary_key/0', 'unknown_field'],
    [
      { name: 'a', fields: [{ name: 'id', type: 'number' }] },
      '/x-svc/entities/a/primary_key/0',
      'bad_primary_key',
    ],
    [
      { name: 'a', fields: [{ name: 'id', type: 'integer', nullable: true }] },
      '/x-svc/entities/a/primary_key/0',
      'bad_primary_key',
    ],
    [
      {
        name: 'a',
        fields: [
          { name: 'b', type: 'string' },
          { name: 'b', type: 'string' },
        ],
      },
      '/x-svc/entities/a/schema/properties/b',
      'duplicate',
    ],
    [
      { name: 'a', fields: [{ name: 'b', type: 'strng' }] },
      '/x-svc/entities/a/schema/properties/b',
      'bad_value',
    ],
  ])('refuses %j', (entity, pointer, code) => {
    expect(refused(entity)).toContainEqual(
      expect.objectContaining({ file: 'schema/world.json', pointer, code }),
    );
  });

  it('suggests the closest type for an unknown one', () => {
    const [problem] = refused({ name: 'a', fields: [{ name: 'b', type: 'strng' }] });
    expect(problem?.hint).toBe('did you mean "string"?');
  });

  it('refuses an entity that would break another file', () => {
    const files = toTree(smallWorld());
    const problems = refused({ name: 'author' }, files);
    expect(problems).toMatchObject([{ file: 'connector.toml', code: 'entity_path' }]);
  });

  it('reports problems at their place in the unedited file', () => {
    const lines = textAt(starter, 'schema/world.json').split('\n');
    const lineOf = (start: string): number =>
      lines.findIndex((line) => line.trimStart().startsWith(start)) + 1;
    expect(refused({ name: 'notes' })).toMatchObject([{ line: lineOf('"notes"'), column: 7 }]);
    expect(refused({ name: '0' })).toMatchObject([{ line: lineOf('"entities"'), column: 5 }]);
  });

  it('edits a tree that already has problems', () => {
    const broken = replaceFiles(starter, [textFile('data/notes.json', '[{}]')]);
    expect(added({ name: 'users' }, broken).files).toHaveLength(1);
  });

  it.each([
    ['', 'syntax'],
    ['[]', 'missing_key'],
    ['{"x-svc": {"entities": []}}', 'missing_key'],
    ['{"a": 1, "a": 2}', 'duplicate_key'],
  ])('refuses to edit the document %j', (text, code) => {
    const files = replaceFiles(starter, [textFile('schema/world.json', text)]);
    expect(refused({ name: 'users' }, files)).toMatchObject([{ code }]);
  });

  it('refuses a tree without the document', () => {
    expect(refused({ name: 'users' }, [])).toMatchObject([{ code: 'missing_file' }]);
  });
});
