/** Tests pushes: which files are sent, how existing rows are kept or replaced, refusals, and concurrent pushes. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import {
  createWorld,
  findMissingFiles,
  getVersion,
  getWorld,
  getWorldFile,
  listVersions,
  openSession,
  pushVersion,
} from '#wire/public-api/operations.ts';
import type { PushBody } from '#wire/public-api/worlds/version.ts';
import type { CreateWorldBody } from '#wire/public-api/worlds/world.ts';
import { startTestControl } from '../../support/control/control.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { changed, push, pushFiles } from '../../support/control/pushes.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let neighbour: Neighbour;

beforeAll(async () => {
  control = await startOwnControl();
  neighbour = await addNeighbour(control);
});

afterAll(() => control.stop());

const tree = notesWorld();
const note = (id: number, title: string) => ({ id, folder_id: 1, title, done: false });

let count = 0;
type SeedRows = NonNullable<CreateWorldBody['data']>['rows'];

const create = async (rows?: SeedRows): Promise<string> => {
  count += 1;
  const slug = `pushed-${count}`;
  const data = rows === undefined ? {} : { data: { rows } };
  await control.send(createWorld, { body: { slug, from: encodeTree(tree), ...data } });
  return slug;
};

const stateOf = async () => {
  const [row] = await control.sql<{ versions: number; uploads: number; heads: string }>(
    `select (select count(*)::int from versions) as versions, (select count(*)::int from uploads) as uploads,
            (select string_agg(head_version_id, ' ' order by id) from worlds) as heads`,
  );
  return row;
};

describe('a push', () => {
  it('creates the next version and sends only files that are new', async () => {
    const slug = await create();
    const { body: first } = await control.read(getWorld, { params: { slug } });
    const next = changed(tree, { 'README.md': '# Notes\n', 'data/notes.json': '[]' });
    const pushed = await push(control.send, slug, next, { message: 'without notes' });
    expect(pushed).toMatchObject({
      status: 201,
      changed: true,
      sent: ['README.md', 'data/notes.json'],
      slug,
      number: 2,
      message: 'without notes',
      author: control.publicKey,
      origin: 'push',
      entityCounts: { folders: 1, notes: 0 },
      changes: {
        base: 1,
        // With schema/lock.json, which hashes the compiled files.
        files: { added: 1, changed: 2, removed: 0 },
        entities: { added: [], changed: [], removed: [] },
        rows: { before: 2, after: 1 },
      },
    });
    const { body: world } = await control.read(getWorld, { params: { slug } });
    expect(world).toMatchObject({ version: { number: 2 }, head: { number: 2 } });
    const old = await control.read(getWorld, { params: { slug: `${slug}@1` } });
    expect(old.body.version).toEqual(first.version);
    expect(old.body.files).toEqual(first.files);
    const { body: list } = await control.read(listVersions, {
      params: { slug },
      query: { limit: 1 },
    });
    expect(list).toMatchObject({ data: [{ number: 2 }], meta: { totalItems: 2 } });
    const opened = await control.send(openSession, { body: { slug: `${slug}@1` } });
    expect(opened.body.versionId).toBe(first.version.id);
  });

  it('creates the same version as creating a world from the tree', async () => {
    const slug = await create();
    const next = changed(tree, {
      'README.md': 'the same\n',
      'scenarios/finish/instruction.md': null,
    });
    const pushed = await push(control.send, slug, next);
    const from = encodeTree(next);
    const made = await control.send(createWorld, { body: { slug: `${slug}-anew`, from } });
    expect(pushed.contentHash).toBe(made.body.version.contentHash);
  });

  it('without changes creates no version and reports that', async () => {
    const slug = await create();
    const before = await stateOf();
    const pushed = await push(control.send, slug, tree);
    expect(pushed).toMatchObject({ status: 200, changed: false, number: 1, sent: [] });
    expect(await stateOf()).toEqual(before);
  });

  it('names the entities that it changes, and renames the world when the manifest has a new name', async () => {
    const slug = await create();
    const text = (path: string) =>
      new TextDecoder().decode(tree.find((file) => file.path === path)?.content);
    const next = changed(tree, {
      'schema/world.json': text('schema/world.json').replace('"minLength": 1', '"minLength": 2'),
      'svc-env.toml': text('svc-env.toml').replace('"Notes"', '"Jottings"'),
    });
    const pushed = await push(control.send, slug, next);
    expect(pushed.changes?.entities).toEqual({ added: [], changed: ['notes'], removed: [] });
    const { body: world } = await control.read(getWorld, { params: { slug } });
    expect(world.name).toBe('Jottings');
  });
});

it('a push warns of rows in the tree with plaintext in fields that the policy redacts', async () => {
  const slug = await create();
  const connector = [
    ...['[connector]', 'slug = "notes"', 'base_url = "https://api.notes.example"'],
    ...['[redact]', 'hash = ["title"]', ''],
  ].join('\n');
  const next = changed(tree, {
    'connector.toml': connector,
    'data/notes.json': JSON.stringify([note(2, 'second')]),
  });
  const pushed = await push(control.send, slug, next);
  expect(pushed.warnings).toContainEqual(
    expect.stringMatching(/^data\/notes\.json: its one row holds plaintext in title \[hash\], /),
  );
  const { body: world } = await control.read(getWorld, { params: { slug } });
  expect(world.warnings).toEqual(pushed.warnings);
  expect(await push(control.send, slug, next)).toMatchObject({
    changed: false,
    warnings: pushed.warnings,
  });
});

describe('rows that did not come from the tree', () => {
  const given = { notes: [note(7, 'given'), note(8, 'given, too')] };

  it('are kept, while rows of the tree replace those of the previous tree', async () => {
    const slug = await create(given);
    const next = changed(tree, { 'data/notes.json': JSON.stringify([note(2, 'second')]) });
    const pushed = await push(control.send, slug, next);
    expect(pushed).toMatchObject({ keptRows: 2, leftOutRows: 0, entityCounts: { notes: 3 } });
    const from = encodeTree(next);
    const body = { slug: `${slug}-anew`, from, data: { rows: given } };
    const made = await control.send(createWorld, { body });
    expect(pushed.contentHash).toBe(made.body.version.contentHash);
    const again = await push(control.send, slug, changed(next, { 'data/notes.json': '[]' }));
    expect(again).toMatchObject({ number: 3, keptRows: 2, entityCounts: { notes: 2 } });
  });

  it('take precedence over a row of the tree with the same key', async () => {
    const slug = await create(given);
    const rows = [note(7, 'of the tree'), note(9, 'new')];
    const next = changed(tree, { 'data/notes.json': JSON.stringify(rows) });
    const pushed = await push(control.send, slug, next);
    expect(pushed).toMatchObject({ keptRows: 2, leftOutRows: 1, entityCounts: { notes: 3 } });
  });

  it('are removed when the push asks for it', async () => {
    const slug = await create(given);
    const pushed = await push(control.send, slug, tree, { data: 'replace' });
    expect(pushed).toMatchObject({ keptRows: 0, entityCounts: { notes: 1 } });
    const alone = await create();
    const { body } = await control.read(getWorld, { params: { slug: alone } });
    expect(pushed.contentHash).toBe(body.version.contentHash);
  });

  it('cause the refusal of a push whose contract does not allow them, and the error has their keys', async () => {
    const slug = await create(given);
    const text = new TextDecoder().decode(tree[0]?.content);
    const stricter = { 'schema/world.json': text.replace('"minLength": 1', '"maxLength": 5') };
    const before = await stateOf();
    await expect(push(control.send, slug, changed(tree, stricter))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('notes id 8: '),
      fields: [{ path: ['kept', 'notes', 'id 8', 'title'] }],
    });
    const homeless = {
      'data/folders.json': '[{"id":2,"name":"other"}]',
      'data/notes.json': '[]',
    };
    await expect(push(control.send, slug, changed(tree, homeless))).rejects.toMatchObject({
      message: expect.stringMatching(/notes id 7: .*"data": "replace"/),
    });
    expect(await stateOf()).toEqual(before);
  });

  it('leave no temporary files behind, whether they are kept or refused', async () => {
    const slug = await create(given);
    await push(control.send, slug, changed(tree, { 'data/notes.json': '[]' }));
    const without = { 'data/notes.json': '[]', 'data/folders.json': '[]' };
    const refused = push(control.send, slug, changed(tree, without));
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    expect(await readdir(join(control.config.workDir, 'imports'))).toEqual([]);
  });

  it('are found in a version of the previous release, which did not record the origin of rows', async () => {
    const slug = await create(given);
    await control.sql(
      `update versions set tree_rows = null, changes = null, author = null
        where id = (select head_version_id from worlds where slug = $1)`,
      [slug],
    );
    const databaseUrl = control.config.databaseUrl.reveal();
    const replica = await startTestControl({ databaseUrl, replicaOf: control });
    try {
      const next = changed(tree, { 'data/notes.json': '[]' });
      expect(await push(replica.send, slug, next)).toMatchObject({ keptRows: 2 });
    } finally {
      await replica.stop();
    }
  });
});

describe('a refused push', () => {
  const bodyOf = (slug: string, body: Partial<PushBody>) =>
    control.send(pushVersion, {
      params: { slug },
      body: { base: 1, files: pushFiles(tree), ...body },
    });

  it('writes nothing when the tree does not compile', async () => {
    const slug = await create();
    const before = await stateOf();
    const blobs = await control.sql('select unnest(blobs) as blob from versions');
    await expect(
      push(control.send, slug, changed(tree, { 'svc-env.toml': null, 'notes.md': 'new' })),
    ).rejects.toMatchObject({
      code: 'invalid',
      detail: { problems: [{ file: 'svc-env.toml', code: 'missing_file' }] },
    });
    expect(await stateOf()).toEqual(before);
    expect(await control.sql('select unnest(blobs) as blob from versions')).toEqual(blobs);
  });

  it('names the head when it is based on another version', async () => {
    const slug = await create();
    const second = await push(control.send, slug, changed(tree, { 'a.md': 'a' }));
    await expect(bodyOf(slug, { base: 1 })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('version 2'),
      detail: { head: { id: second.id, number: 2 } },
    });
    await expect(bodyOf(slug, { base: 3 })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('reports that its world was archived or deleted meanwhile', async () => {
    const archive = 'archived_at = now()';
    const remove = 'deleted_at = now(), former_slug = slug, slug = id';
    for (const [change, result] of [
      [archive, { code: 'conflict', message: expect.stringContaining('is archived') }],
      [remove, { code: 'not_found', message: expect.stringContaining('deleted in the meantime') }],
    ] as const) {
      // Disk space is reserved by an insert before the files are stored, and by an update for the files themselves.
      for (const moment of ['insert', 'update']) {
        const slug = await create();
        await control.sql(`create function end_world() returns trigger language plpgsql as $$ begin
          update worlds set ${change} where slug = '${slug}'; return new; end $$`);
        await control.sql(`create trigger end_world after ${moment} on uploads
          for each row execute function end_world()`);
        const pushing = push(control.send, slug, changed(tree, { 'a.md': slug }));
        await expect(pushing).rejects.toMatchObject(result);
        await control.sql('drop function end_world cascade');
      }
    }
  });

  it('names missing files, wrong digests and invalid paths', async () => {
    const slug = await create();
    const sha256 = 'a'.repeat(64);
    const content = Buffer.from('a').toString('base64');
    await expect(bodyOf(slug, { files: [{ path: 'a.md', sha256 }] })).rejects.toMatchObject({
      code: 'conflict',
      detail: { missing: [sha256] },
    });
    const files = [
      { path: 'a.md', sha256, content },
      { path: '../b.md', sha256 },
      { path: 'c.md', sha256, content: '%' },
    ];
    await expect(bodyOf(slug, { files })).rejects.toMatchObject({
      fields: [
        { path: ['files', '0', 'sha256'] },
        { path: ['files', '1', 'path'] },
        { path: ['files', '2', 'content'] },
      ],
    });
  });
});

describe('the key of another project', () => {
  it('can neither push, list missing files nor read files by their digests', async () => {
    const slug = await create();
    const { body: world } = await control.read(getWorld, { params: { slug } });
    const sha256 = world.files.map((file) => file.sha256);
    for (const [path, body] of [
      [`/worlds/${slug}/versions`, { base: 1, files: pushFiles(tree) }],
      [`/worlds/${slug}/versions/missing`, { sha256 }],
    ] as const) {
      expect((await neighbour.ask('POST', path, body)).status).toBe(404);
    }
    const own = { slug: 'mine', from: 'code-hosting' };
    expect((await neighbour.ask('POST', '/worlds', own)).status).toBe(201);
    const tools = world.files.find(({ path }) => path === 'tools.py')?.sha256 ?? '';
    const asked = await neighbour.ask('POST', '/worlds/mine/versions/missing', { sha256: [tools] });
    expect(asked.body).toMatchObject({ missing: [tools] });
    const files = [{ path: 'tools.py', sha256: tools }];
    const stolen = await neighbour.ask('POST', '/worlds/mine/versions', { base: 1, files });
    expect(stolen).toMatchObject({ status: 409, body: { missing: [tools] } });
  });
});

describe('concurrent pushes', () => {
  it('that each add a file keep all files, in versions without gaps', async () => {
    const slug = await create();
    const pushers = 4;
    let conflicts = 0;
    const headOf = async () => {
      const { body } = await control.send(findMissingFiles, {
        params: { slug },
        body: { sha256: [] },
      });
      return body.head.number;
    };
    /** Reads the head, adds a file to it and pushes; starts over when another push was first. */
    const pushOwn = async (name: string): Promise<number> => {
      for (;;) {
        const number = await headOf();
        const { body: base } = await control.read(getVersion, {
          params: { slug, version: String(number) },
        });
        const files = base.files.map(({ path, sha256 }) => ({ path, sha256 }));
        const added = pushFiles(changed([], { [`${name}.md`]: name }));
        try {
          const body = { base: number, files: [...files, ...added] };
          return (await control.send(pushVersion, { params: { slug }, body })).body.number;
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
          expect(error.detail.head).toMatchObject({ number: expect.any(Number) });
          conflicts += 1;
        }
      }
    };
    const numbers = await Promise.all(
      Array.from({ length: pushers }, (_, at) => pushOwn(`file-${at}`)),
    );
    expect(numbers.toSorted()).toEqual([2, 3, 4, 5]);
    expect(conflicts).toBeGreaterThan(0);
    const { body: head } = await control.read(getWorld, { params: { slug } });
    expect(head.version.number).toBe(5);
    expect(head.files.filter(({ path }) => path.startsWith('file-'))).toHaveLength(pushers);
    const file = head.files.find(({ path }) => path === 'file-3.md');
    const { body: bytes } = await control.read(getWorldFile, {
      params: { slug, sha256: file?.sha256 ?? '' },
    });
    expect(Buffer.from(bytes).toString()).toBe('file-3');
  });
});
