/**
 * Source trees with paths that have another meaning on the disk: they are refused with the path
 * named. Data models with names that are special to the store: they work like any other, or are
 * refused with the name.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const file = (path: string) => ({ path, content: Buffer.from('x').toString('base64') });

const send = (body: object) =>
  control.raw({
    method: 'POST',
    path: '/api/public/worlds',
    headers: {
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });

const countWorlds = async () =>
  (await control.sql<{ count: number }>('select count(*)::int as count from worlds'))[0]?.count;

describe('a source tree of a client', () => {
  it.each([
    'notes/NUL',
    'COM1.txt',
    'notes.md:hidden',
    'C:\\Windows\\x.md',
    '..\\..\\x.md',
    'notes./x.md',
    'notes .md ',
    '.git/config',
    '.GIT/hooks/post-checkout',
    'git~1/config',
    '.g\u200cit/config',
    '.vscode/tasks.json',
    'a\u202egnp.py',
    'a\u001b[2J.md',
    `${'x'.repeat(256)}.md`,
    `${'a/'.repeat(32)}x.md`,
    'readme.MD',
    'TOOLS.py/x',
    'Data/more.md',
  ])('that contains %j is refused with the file named, and nothing is created', async (path) => {
    const tree = [...encodeTree(notesWorld()), file('README.md'), file('data/notes.md')];
    for (const body of [{ from: [...tree, file(path)] }, { from: tree, overlay: [file(path)] }]) {
      const { status, body: answer } = await send({ slug: 'hostile', ...body });
      expect(status).toBe(400);
      const text = JSON.stringify(answer);
      expect(text).toMatch(/the path \\"[^,]+ (must|differs|lies|is) /);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none is to be sent back as it came
      expect(text).not.toMatch(/[\u0000-\u001f\u200c\u202e]/);
    }
    expect(await countWorlds()).toBe(0);
  });

  it('with ordinary paths is accepted', async () => {
    const more = [file('README.md'), file('.env'), file('notes/console.md'), file('docs/ü b.md')];
    const from = [...encodeTree(notesWorld()), ...more];
    await control.send(createWorld, { body: { slug: 'plain', from } });
    expect(await countWorlds()).toBe(1);
  });
});

describe('a data model', () => {
  const withFields = (entity: string, fields: readonly string[]) =>
    notesWorld().map(({ path, content }) => {
      if (path !== 'schema/world.json') return { path, content };
      const world = JSON.parse(new TextDecoder().decode(content));
      const properties = Object.fromEntries(fields.map((name) => [name, { type: 'string' }]));
      world['x-svc'].entities[entity] = {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: fields.slice(0, 1),
          properties,
        },
        primary_key: fields.slice(0, 1),
        unique: fields.slice(1).map((name) => [name]),
      };
      return { path, content: new TextEncoder().encode(JSON.stringify(world)) };
    });

  it.each([
    ['things', ['rowid', '_rowid_', 'oid']],
    ['order', ['RowID', 'OID', '_ROWID_', '_position', 'rank']],
    ['json_each', ['value', 'key', 'group']],
    ['select', ['from', 'where', 'x'.repeat(128)]],
  ])('named "%s" with the fields %j makes a world that works', async (entity, fields) => {
    const from = encodeTree(withFields(entity, fields));
    const [key = '', ...others] = fields;
    const rows = { [entity]: [{ [key]: 'a', ...Object.fromEntries(others.map((o) => [o, 'b'])) }] };
    const { status } = await send({ slug: entity.replace('_', '-'), from, data: { rows } });
    expect(status).toBe(201);
  });

  it('is refused with the field named when its fields differ only by case or are columns of the store', async () => {
    for (const fields of [
      ['id', 'a', 'A'],
      ['id', '_KEY'],
      ['id', 'Payload'],
      ['id', 'svc_x'],
    ]) {
      const from = encodeTree(withFields('things', fields));
      const { status, body } = await send({ slug: 'refused', from });
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain(fields.at(-1));
    }
  });
});
