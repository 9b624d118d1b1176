/** Tests creating worlds: from templates and trees, with overlays and rows, and every refusal. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createWorld,
  getWorld,
  getWorldOpenApi,
  listTemplates,
  listWorldEntities,
  listWorlds,
  listWorldTasks,
} from '#wire/public-api/operations.ts';
import type { CreateWorldBody } from '#wire/public-api/worlds/world.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree, notesWorld, slowWorld } from '../../support/worlds/worlds.ts';

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

const tree = encodeTree(notesWorld());
const encode = (text: string) => Buffer.from(text).toString('base64');

const create = async (body: CreateWorldBody) => (await control.send(createWorld, { body })).body;

let count = 0;
const newSlug = () => {
  count += 1;
  return `world-${count}`;
};

describe('a new world', () => {
  it('can be created from a template', async () => {
    const world = await create({
      slug: 'hosting',
      from: 'code-hosting',
      name: 'Our host',
      description: 'Where our code is.',
      message: 'to begin with',
    });
    expect(world).toMatchObject({
      slug: 'hosting',
      kind: 'mock-tools',
      name: 'Our host',
      description: 'Where our code is.',
      surfaces: ['api', 'ui', 'browser'],
      warnings: [],
      tasks: expect.arrayContaining(['close-duplicate', 'merge-what-is-ready']),
      url: 'https://svc.test/world/hosting',
      links: { world: 'https://svc.test/api/public/worlds/hosting' },
      version: { number: 1, state: 'READY', message: 'to begin with' },
    });
    expect(world.containerId).toBe(world.id);
    expect(world.version.entityCounts.users).toBeGreaterThan(0);
    expect(world.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['connector.toml', 'schema/runtime.json', 'tools.py']),
    );
    const read = await control.read(getWorld, { params: { slug: 'hosting' } });
    expect(read.body).toEqual(world);
  });

  it('can be created from the files of a tree, which are stored unchanged', async () => {
    const world = await create({ slug: newSlug(), from: tree });
    expect(world).toMatchObject({ name: 'Notes', surfaces: [], tasks: ['finish'] });
    expect(world.version.entityCounts).toEqual({ folders: 1, notes: 1 });
    const file = world.files.find(({ path }) => path === 'tools.py');
    const hex = file?.sha256 ?? '';
    const { blobs } = control.config;
    const folder = blobs.kind === 'folder' ? blobs.folder : '';
    const kept = await readFile(join(folder, hex.slice(0, 2), hex), 'base64');
    expect(kept).toBe(tree.find(({ path }) => path === 'tools.py')?.content);
  });

  it('includes the files of an overlay and the rows in the request', async () => {
    const overlay = [
      { path: 'data/folders.json', content: encode('[{"id":1,"name":"a"},{"id":2,"name":"b"}]') },
    ];
    const data = { rows: { notes: [{ id: 7, folder_id: 2, title: 'given', done: true }] } };
    const world = await create({ slug: newSlug(), from: tree, overlay, data });
    expect(world.version.entityCounts).toEqual({ folders: 2, notes: 2 });
  });

  it('has a content hash that depends on its content only', async () => {
    const first = await create({ slug: newSlug(), from: tree });
    const second = await create({ slug: newSlug(), from: tree.toReversed() });
    const rows = { folders: [{ id: 2, name: 'more' }] };
    const third = await create({ slug: newSlug(), from: tree, data: { rows } });
    expect(second.version.contentHash).toBe(first.version.contentHash);
    expect(third.version.contentHash).not.toBe(first.version.contentHash);
  });

  it('is created once, even when many requests ask for the slug at once', async () => {
    const slug = newSlug();
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => create({ slug, from: tree })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') {
        expect(result.reason).toMatchObject({
          code: 'conflict',
          message: `world slug "${slug}" is taken in this project`,
        });
      }
    }
  });
});

describe('the entities of a world', () => {
  it('are described with every field, its types and its redaction', async () => {
    const slug = newSlug();
    const world = await create({ slug, from: encodeTree(toTree(unlinkedWorld())) });
    const { body } = await control.read(listWorldEntities, { params: { slug } });
    expect(body.versionId).toBe(world.version.id);
    const cards = body.data.find(({ name }) => name === 'cards');
    expect(cards).toMatchObject({ primaryKey: ['id'], unique: expect.any(Array) });
    expect(cards?.fields).toContainEqual({
      path: 'author.login',
      types: ['string'],
      required: true,
      policy: 'hash',
    });
    await expect(
      control.read(listWorldEntities, { params: { slug: 'nothing' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a world with likely mistakes', () => {
  it('is created with warnings', async () => {
    const tree = toTree(unlinkedWorld()).filter(({ path }) => !path.startsWith('tests/'));
    const world = await create({ slug: newSlug(), from: encodeTree(tree) });
    expect(world.warnings).toEqual([
      'a push is configured to run the tests, but tests/ has no files, so no test runs',
      expect.stringMatching(
        /^data\/cards\.json: all 2 rows hold plaintext in author\.login \[hash\]/,
      ),
      expect.stringMatching(/^task finish, seed of cards: its one row holds plaintext/),
    ]);
    const read = await control.read(getWorld, { params: { slug: world.slug } });
    expect(read.body.warnings).toEqual(world.warnings);
  });
});

describe('a world that takes long to compile', () => {
  it('does not delay other requests', async () => {
    let isCreated = false;
    const created = create({ slug: newSlug(), from: encodeTree(slowWorld()) }).finally(() => {
      isCreated = true;
    });
    const countAnswers = async () => {
      let answers = 0;
      for (; !isCreated; answers += 1) await control.read(listWorlds, {});
      return answers;
    };
    const [world, answers] = await Promise.all([created, countAnswers()]);
    expect(world.version.entityCounts.notes).toBe(120_000);
    expect(answers).toBeGreaterThan(20);
  });
});

describe('a world is refused', () => {
  const slugs = ['', 'Capital', '-x', 'x_y', 'a/b', 'templates', 'runtime', 'x'.repeat(65)];

  it('with every problem in one error, of the files and the slug together', async () => {
    await expect(create({ slug: 'Capital', from: 'code-hostin' })).rejects.toMatchObject({
      fields: [{ path: ['slug'] }, { path: ['from'] }],
    });
  });

  it.each(slugs)('for its slug "%s"', async (slug) => {
    await expect(create({ slug, from: tree })).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path: ['slug'] }],
    });
  });

  it('with every problem of the contract in one error, each with its file', async () => {
    const world = tree.map((file) =>
      file.path === 'svc-env.toml'
        ? { path: file.path, content: encode('[schema]\nlanguage = "svc-world/2"\nextra = 1\n') }
        : file,
    );
    const slug = newSlug();
    const error = await create({ slug, from: world }).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'invalid' });
    expect(error.fields.length).toBeGreaterThan(1);
    expect(error.fields[0].path[0]).toBe('svc-env.toml');
    expect(error.detail.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ file: 'svc-env.toml', code: expect.any(String) }),
      ]),
    );
    await expect(control.read(getWorld, { params: { slug } })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  const rows: [string, Record<string, Record<string, unknown>[]>, string[]][] = [
    [
      'breaks its shape',
      { notes: [{ id: 2, folder_id: 1, title: '', done: true }] },
      ['data', 'rows', 'notes', '0', 'title'],
    ],
    [
      'has a taken key',
      { notes: [{ id: 1, folder_id: 1, title: 'again', done: true }] },
      ['data', 'rows', 'notes', '0'],
    ],
    [
      'points nowhere',
      { notes: [{ id: 2, folder_id: 9, title: 'lost', done: true }] },
      ['data', 'rows', 'notes', '0'],
    ],
    ['is of no entity', { noted: [{}] }, ['data', 'rows', 'noted', '0']],
  ];

  it.each(rows)('when a row in the request %s', async (_, given, path) => {
    const error = await create({ slug: newSlug(), from: tree, data: { rows: given } }).catch(
      (reason) => reason,
    );
    expect(error).toMatchObject({ code: 'invalid' });
    expect(error.fields[0].path.slice(0, path.length)).toEqual(path);
  });

  const sources: [string, Partial<CreateWorldBody>, string[]][] = [
    ['is nothing', {}, ['from']],
    ['is an unknown template', { from: 'code-hostin' }, ['from']],
    ['is a workspace', { from: 'workspace:crm' }, ['from']],
    ['climbs', { from: [{ path: '../x', content: '' }] }, ['from', '0', 'path']],
    ['is absolute', { from: [{ path: '/etc/x', content: '' }] }, ['from', '0', 'path']],
    ['is not base64', { from: [{ path: 'x', content: '%' }] }, ['from', '0', 'content']],
    [
      'has a path twice',
      { from: 'code-hosting', overlay: [tree[0], tree[0]] as typeof tree },
      ['overlay', '1', 'path'],
    ],
  ];

  it.each(sources)('when its source %s', async (_, body, path) => {
    await expect(create({ slug: newSlug(), ...body })).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path }],
    });
  });
});

describe('the OpenAPI document of a world', () => {
  const get = (slug: string, headers: Record<string, string> = {}) =>
    control.raw({
      method: 'GET',
      path: `/api/public/worlds/${slug}/openapi.json`,
      headers: { authorization: `Bearer ${control.publicKey}`, ...headers },
    });

  it('describes its routes, and answers 304 to a client that has it', async () => {
    const slug = newSlug();
    const world = await create({ slug, from: encodeTree(toTree(unlinkedWorld())) });
    expect(world.links.api).toBe(`https://svc.test/api/public/worlds/${slug}/openapi.json`);
    const { status, headers, body } = await get(slug);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./),
      info: { title: 'Board' },
      paths: { '/cards/{card_id}': { get: { operationId: 'get_card' } } },
    });
    const again = await get(slug, { 'if-none-match': `W/"other", ${headers.etag}` });
    expect(again).toMatchObject({ status: 304, body: '', headers: { etag: headers.etag } });
  });

  it('does not exist for a world without routes', async () => {
    const slug = newSlug();
    await create({ slug, from: tree });
    await expect(control.read(getWorldOpenApi, { params: { slug } })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('declares no routes'),
    });
    expect((await control.read(getWorld, { params: { slug } })).body.links.api).toBeNull();
    const { body } = await control.read(listWorlds, { query: { limit: 1 } });
    expect(body.data).toMatchObject([{ slug, links: { api: null } }]);
  });

  it('does not exist for an API without routes, and no view of the world links to it', async () => {
    const slug = newSlug();
    const connector =
      '[connector]\nslug = "board"\nbase_url = "https://api.board.example"\n[api]\n';
    const empty = { path: 'connector.toml', content: Buffer.from(connector) };
    const rest = notesWorld().filter(({ path }) => path !== empty.path);
    const world = await create({ slug, from: encodeTree([...rest, empty]) });
    expect(world).toMatchObject({ surfaces: ['api'], links: { api: null } });
    const { body } = await control.read(listWorlds, { query: { limit: 1 } });
    expect(body.data).toMatchObject([{ slug, surfaces: ['api'], links: { api: null } }]);
  });
});

describe('the tasks of a world', () => {
  it('are those of its head version, with their graders', async () => {
    const slug = newSlug();
    const world = await create({ slug, from: encodeTree(toTree(unlinkedWorld())) });
    const query = { fields: 'instruction,tools' };
    const { body } = await control.read(listWorldTasks, { params: { slug }, query });
    expect(body.versionId).toBe(world.version.id);
    expect(body.data.map(({ name, grader }) => [name, grader])).toEqual([
      ['finish', 'assertions'],
      ['verified-by-code', 'python'],
      ['queried-too', 'sql'],
      ['queried', 'sql'],
    ]);
    expect(body.data[0]).toMatchObject({
      description: 'Finish a card.',
      instruction: 'Finish card 3.\n',
      tools: ['summarize', 'cards.archive', 'get_card', 'list_cards'],
      seed: { mode: 'append', counts: { cards: 1 } },
    });
    expect(body.data[3]).toMatchObject({ name: 'queried', tools: ['list_cards'] });
    const named = { params: { slug }, query: { name: 'queried' } };
    const [one, ...others] = (await control.read(listWorldTasks, named)).body.data;
    expect(others).toEqual([]);
    expect(Object.keys(one ?? {})).toEqual(['name', 'description', 'seed', 'grader', 'tools']);
  });

  it('are returned page by page, with their tools', async () => {
    const slug = newSlug();
    await create({ slug, from: encodeTree(toTree(unlinkedWorld())) });
    const page = async (query: { page?: number; limit?: number }) =>
      (await control.read(listWorldTasks, { params: { slug }, query })).body;
    const { data, meta } = await page({ limit: 3, page: 2 });
    expect(meta).toEqual({ page: 2, limit: 3, totalItems: 4, totalPages: 2 });
    expect(data).toMatchObject([{ name: 'queried', tools: ['list_cards'] }]);
    expect((await page({})).meta).toEqual({ page: 1, limit: 50, totalItems: 4, totalPages: 1 });
    await expect(page({ limit: 101 })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('are refused for a world that does not exist', async () => {
    await expect(
      control.read(listWorldTasks, { params: { slug: 'nowhere' } }),
    ).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^there is no world "nowhere"; known: /),
    });
  });

  it('are refused for a misspelled world with the slug that may be meant', async () => {
    const slug = newSlug();
    await create({ slug, from: encodeTree(toTree(unlinkedWorld())) });
    await expect(control.read(listWorldTasks, { params: { slug: `${slug}x` } })).rejects.toThrow(
      `there is no world "${slug}x"; did you mean "${slug}"?`,
    );
  });
});

describe('lists of worlds and templates', () => {
  it('return worlds, newest first', async () => {
    const slug = newSlug();
    await create({ slug, from: tree });
    const { body } = await control.read(listWorlds, { query: { limit: 1 } });
    expect(body.data.map((world) => world.slug)).toEqual([slug]);
    expect(body.meta.totalItems).toBeGreaterThan(1);
  });

  it('return templates with their descriptions', async () => {
    const { body } = await control.read(listTemplates, {});
    const { data, meta } = (await control.read(listTemplates, { query: { limit: 1, page: 2 } }))
      .body;
    expect(data).toEqual(body.data.slice(1, 2));
    expect(meta).toMatchObject({ page: 2, limit: 1, totalItems: body.data.length });
    expect(body.meta).toMatchObject({ page: 1, limit: 50, totalItems: body.data.length });
    expect(body.data).toContainEqual({
      slug: 'code-hosting',
      name: 'Code hosting',
      description: expect.stringMatching(/^A code host/),
    });
  });
});
