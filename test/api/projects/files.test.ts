import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import { createAsker } from '../../support/control/client.ts';
import { startTestControl } from '../../support/control/control.ts';
import { driveOf, reachable, sumOf, tidy } from '../../support/control/file-uploads.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

const code = (value: string) => expect.objectContaining({ code: value });
let control: OwnControl;
let drive: ReturnType<typeof driveOf>;

beforeAll(async () => {
  control = await startNotesControl();
  drive = driveOf(control);
});
afterAll(() => control.stop());

describe('a file', () => {
  it('exists once its upload is confirmed, with the announced name, type and digest', async () => {
    const upload = await drive.request('docs/a b.txt', 'hello');
    expect(upload).toMatchObject({ path: 'docs/a b.txt', held: false });
    expect(await drive.list('docs')).toMatchObject({ files: [], totalFiles: 0 });
    await expect(drive.confirm(upload.fileId)).rejects.toEqual(code('conflict'));
    expect((await drive.send(upload, 'hello')).status).toBe(200);
    const confirmed = await drive.confirm(upload.fileId);
    expect(confirmed).toMatchObject({
      ...{ fileId: upload.fileId, path: 'docs/a b.txt', ready: true },
      ...{ sizeBytes: 5, contentType: 'text/plain', sha256: sumOf('hello') },
    });
    expect(await drive.confirm(upload.fileId)).toEqual(confirmed);
    expect(await drive.list('docs/')).toMatchObject({
      files: [
        { path: 'docs/a b.txt', name: 'a b.txt', fileId: upload.fileId, author: control.publicKey },
      ],
      totalFiles: 1,
    });
    const { text, headers, view } = await drive.get('docs/a b.txt');
    expect(text).toBe('hello');
    expect(Date.parse(view.urlExpiry)).toBeGreaterThan(Date.now());
    expect(headers.get('content-type')).toBe('text/plain');
    expect(headers.get('content-disposition')).toBe('attachment; filename="a b.txt"');
    expect(headers.get('content-security-policy')).toContain('sandbox');
  });

  it('has a name in any script, and both Unicode normal forms name the same file', async () => {
    await drive.put('schön/e\u0301.txt', 'one');
    expect((await drive.get('schön/\u00e9.txt')).headers.get('content-disposition')).toBe(
      `attachment; filename="_.txt"; filename*=UTF-8''%C3%A9.txt`,
    );
    await expect(drive.request('schön/é.txt', 'two')).rejects.toEqual(code('conflict'));
    await drive.put('schön/É.txt', 'two');
    expect(await drive.walk('schön')).toEqual(['schön/É.txt', 'schön/é.txt']);
  });

  it('is replaced only with overwrite', async () => {
    await drive.put('replaced.txt', 'one');
    await expect(drive.request('replaced.txt', 'two')).rejects.toEqual(code('conflict'));
    await drive.put('replaced.txt', 'two', { overwrite: true });
    expect((await drive.get('replaced.txt')).text).toBe('two');
    // If two uploads have the same path, the first confirmed one becomes the file.
    const [first, second] = [
      await drive.request('race.txt', 'a'),
      await drive.request('race.txt', 'b'),
    ];
    await drive.send(first, 'a');
    await drive.send(second, 'b');
    await drive.confirm(second.fileId);
    await expect(drive.confirm(first.fileId)).rejects.toEqual(code('conflict'));
    expect((await drive.get('race.txt')).text).toBe('b');
    expect(await drive.confirm(first.fileId, false)).toMatchObject({ ready: false });
  });

  it('does not exist if its upload was abandoned', async () => {
    const upload = await drive.request('given-up.txt', 'x');
    await drive.send(upload, 'x');
    expect(await drive.confirm(upload.fileId, false)).toMatchObject({ ready: false });
    await expect(drive.confirm(upload.fileId)).rejects.toEqual(code('not_found'));
    expect((await drive.send(upload, 'x')).status).toBe(403);
    await expect(drive.get('given-up.txt')).rejects.toEqual(code('not_found'));
    const kept = await drive.put('kept.txt', 'y');
    await expect(drive.confirm(kept.fileId, false)).rejects.toEqual(code('conflict'));
  });

  it('must have the announced bytes, type and digest', async () => {
    const upload = await drive.request('exact.txt', 'right');
    expect((await drive.send(upload, 'wrong')).status).toBe(400);
    expect((await drive.send(upload, 'right and more')).status).toBe(400);
    const { uploadHeaders } = upload;
    const other = { ...upload, uploadHeaders: { ...uploadHeaders, 'content-type': 'text/html' } };
    expect((await drive.send(other, 'right')).status).toBe(400);
    const sums = { ...uploadHeaders, 'x-amz-checksum-sha256': sumOf('wrong') };
    expect((await drive.send({ ...upload, uploadHeaders: sums }, 'right')).status).toBe(400);
    await expect(drive.confirm(upload.fileId)).rejects.toEqual(code('conflict'));
    const right = { ...uploadHeaders, 'x-amz-checksum-sha256': sumOf('right') };
    expect((await drive.send({ ...upload, uploadHeaders: right }, 'right')).status).toBe(200);
    await drive.confirm(upload.fileId);
  });

  it('with bytes that the project already has needs no upload', async () => {
    await drive.put('held/one.txt', 'the same bytes');
    const again = await drive.request('held/two.txt', 'the same bytes');
    expect(again.held).toBe(true);
    await drive.confirm(again.fileId);
    expect((await drive.get('held/two.txt')).text).toBe('the same bytes');
  });

  it('is stored whole, also after an interrupted upload and a confirmation at several replicas at once', async () => {
    const text = 'x'.repeat(300_000);
    const upload = await drive.request('broken.txt', text);
    const half = new ReadableStream({
      start(stream) {
        stream.enqueue(Buffer.from(text.slice(1_000)));
        stream.error(new Error('the sender is gone'));
      },
    });
    await expect(
      fetch(reachable(control, upload.uploadUrl), {
        ...{ method: 'PUT', headers: upload.uploadHeaders, body: half },
        duplex: 'half',
      } as RequestInit),
    ).rejects.toThrow();
    await expect(drive.confirm(upload.fileId)).rejects.toEqual(code('conflict'));
    expect((await drive.send(upload, text)).status).toBe(200);
    const { databaseUrl } = control.config;
    const other = await startTestControl({
      databaseUrl: databaseUrl.reveal(),
      keysOf: control,
      replicaOf: control,
    });
    try {
      const both = [drive, driveOf(other), drive].map((one) => one.confirm(upload.fileId));
      const answers = await Promise.all(both);
      expect(answers.map(({ ready }) => ready)).toEqual([true, true, true]);
    } finally {
      await other.stop();
    }
    expect((await drive.get('broken.txt')).text).toBe(text);
  });

  it('may be empty', async () => {
    await drive.put('empty.txt', '');
    expect((await drive.get('empty.txt')).text).toBe('');
  });

  it.each([
    '',
    '/',
    'docs/',
    '../x',
    'a//b',
    '/x',
    'a\0b',
    'a\\b',
    'x'.repeat(300),
    'a/'.repeat(40).concat('b'),
    'a\u202eb',
  ])('cannot have the path %j', async (path) => {
    await expect(drive.request(path, 'x')).rejects.toEqual(code('invalid'));
  });

  it('cannot have the path of a folder, nor can a folder have the path of a file', async () => {
    await drive.put('both/file', 'x');
    await expect(drive.request('both/file/below', 'x')).resolves.toBeDefined();
    await expect(drive.put('both/file/below', 'x')).rejects.toEqual(code('conflict'));
    await expect(drive.request('both', 'x')).rejects.toEqual(code('conflict'));
    await expect(drive.makeFolder('both/file')).rejects.toEqual(code('conflict'));
    await expect(drive.get('both')).rejects.toEqual(code('not_found'));
  });
});

describe('an invalid body', () => {
  const right = { path: 'x', contentLength: 1, contentType: 'a/b', sha256: sumOf('x') };
  const ask = () => createAsker(control);
  const as = () => basicAuthorization(control.publicKey, control.secretKey);
  const hostile = JSON.parse('{"__proto__": {"path": "x"}}') as object;

  it.each([
    ['/files', {}],
    ['/files', hostile],
    ['/files', { ...right, path: 1 }],
    ['/files', { ...right, path: null }],
    ['/files', { ...right, contentLength: -1 }],
    ['/files', { ...right, contentLength: 1.5 }],
    ['/files', { ...right, contentLength: 2 ** 40 }],
    ['/files', { ...right, contentType: 'text/plain\r\nx-a: b' }],
    ['/files', { ...right, contentType: 'text' }],
    ['/files', { ...right, sha256: 'x' }],
    ['/files', { ...right, sha256: `${sumOf('x').slice(0, 42)}B=` }],
    ['/files', { ...right, more: 1 }],
    ['/files/confirm', { fileId: 'x' }],
    ['/files/confirm', { fileId: ['x'], ok: true }],
    ['/files/move', { fromPath: 'x' }],
    ['/files/move', { fromPath: 'x', toPath: 'a/../b' }],
    ['/files/folders', { path: '..' }],
    ['/files/folders', { path: {} }],
  ])('is refused by %s and changes nothing: %j', async (path, body) => {
    const before = await control.sql('select count(*) from awaited_files');
    expect((await ask()('POST', path, { as: as(), body })).status).toBe(400);
    expect(await control.sql('select count(*) from awaited_files')).toEqual(before);
  });

  it.each(['fil-x', 'a\0b', 'chk-01kaz4x0pg8q2m5v7n3c1d9e6f', 'fil-01kaz4x0pg8q2m5v7n3c1d9e6f'])(
    'with the file id %j gets not_found, because no upload has this id',
    async (fileId) => {
      await expect(drive.confirm(fileId)).rejects.toEqual(code('not_found'));
      await expect(drive.confirm(fileId, false)).rejects.toEqual(code('not_found'));
    },
  );
});

describe('folders', () => {
  it('are created once, with their parent folders', async () => {
    expect((await drive.makeFolder('made/in/depth')).status).toBe(201);
    const again = await drive.makeFolder('made/in/depth/');
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ path: 'made/in/depth', files: 0, folders: 0 });
    const all = await Promise.all(Array.from({ length: 8 }, () => drive.makeFolder('together/x')));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await drive.list('made')).toMatchObject({
      folders: [{ path: 'made/in', folders: 1 }],
      totalFolders: 1,
    });
  });

  it('are moved with their contents', async () => {
    await drive.put('from/a.txt', 'a');
    await drive.put('from/deep/b.txt', 'b');
    const before = await drive.get('from/deep/b.txt');
    expect(await drive.move('from', 'elsewhere/to')).toBe(2);
    expect(await drive.walk('elsewhere')).toEqual([
      'elsewhere/to/a.txt',
      'elsewhere/to/deep/b.txt',
    ]);
    expect(await drive.walk('from')).toEqual([]);
    expect((await drive.get('elsewhere/to/deep/b.txt')).view.sha256).toBe(before.view.sha256);
    expect(await drive.move('elsewhere/to/a.txt', 'elsewhere/')).toBe(1);
    expect(await drive.move('elsewhere/a.txt', 'elsewhere/a.txt')).toBe(0);
    expect(await drive.list('elsewhere')).toMatchObject({ totalFiles: 1, totalFolders: 1 });
    expect(await drive.list('elsewhere/to')).toMatchObject({ totalFiles: 0, totalFolders: 1 });
  });

  it('are not moved onto an existing path, into themselves, or beyond the maximum depth', async () => {
    await drive.put('m/one/x.txt', 'x');
    await drive.put('m/two/y.txt', 'y');
    const walk = async () => [...(await drive.walk('m'))];
    const before = await walk();
    await expect(drive.move('m/one', 'm/two')).rejects.toEqual(code('conflict'));
    await expect(drive.move('m/one', 'm/two/y.txt')).rejects.toEqual(code('conflict'));
    await expect(drive.move('m/one', 'm/two/y.txt/z')).rejects.toEqual(code('conflict'));
    await expect(drive.move('m/one', 'm/one/in')).rejects.toEqual(code('invalid'));
    await expect(drive.move('m/one/', 'm/one/')).rejects.toEqual(code('invalid'));
    await expect(drive.move('m', `${'d/'.repeat(30)}m`)).rejects.toEqual(code('invalid'));
    await expect(drive.move('', 'x')).rejects.toEqual(code('invalid'));
    await expect(drive.move('m/none', 'x')).rejects.toEqual(code('not_found'));
    await expect(drive.move('m/one/x.txt/', 'x')).rejects.toEqual(code('not_found'));
    expect(await walk()).toEqual(before);
    expect(await drive.list('x')).toMatchObject({ files: [], folders: [] });
  });

  it('end in one tree without loss if they are moved into each other at the same time', async () => {
    await drive.put('c/a/1.txt', '1');
    await drive.put('c/b/2.txt', '2');
    const moves = await Promise.allSettled([
      drive.move('c/a', 'c/b/a'),
      drive.move('c/b', 'c/a/b'),
    ]);
    // The later move finds no folder of that name at its target, and creates it again.
    expect(moves.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect([
      ['c/a/b/2.txt', 'c/a/b/a/1.txt'],
      ['c/b/a/1.txt', 'c/b/a/b/2.txt'],
    ]).toContainEqual(await drive.walk('c'));
  });

  it('with 100,000 files are moved and deleted without a write to the rows of the files', async () => {
    await drive.makeFolder('many/here');
    const [folder] = await control.sql<{ id: string }>(
      `select id from file_folders where name = 'here' and parent_id is not null`,
    );
    await control.sql(
      `insert into files (id, project_id, folder_id, name, digest, bytes, content_type)
       select 'many' || n, f.project_id, f.id, 'f' || n, 'sha256:none', 0, 'text/plain'
         from file_folders f, generate_series(1, 100000) n where f.id = $1`,
      [folder?.id],
    );
    await control.sql('update file_folders set files = 100000 where id = $1', [folder?.id]);
    const versions = () =>
      control.sql(`select min(xmin::text), max(xmin::text) from files where id like 'many%'`);
    const before = await versions();
    expect(await drive.move('many/here', 'many/there')).toBe(100_000);
    expect(await drive.list('many/there', { page: 499, limit: 200 })).toMatchObject({
      totalFiles: 100_000,
      files: { length: 200 },
    });
    expect(await drive.remove('many')).toBe(100_000);
    expect(await versions()).toEqual(before);
    for (let turn = 0; turn < 14; turn += 1) await tidy(control);
    expect(await control.sql(`select from files where id like 'many%'`)).toEqual([]);
    expect(await control.sql('select from file_folders where deleted_at is not null')).toEqual([]);
  }, 240_000);

  it('are deleted with their contents', async () => {
    await drive.put('gone/a.txt', 'gone a');
    await drive.put('gone/in/b.txt', 'gone b');
    expect(await drive.remove('gone')).toBe(2);
    expect(await drive.list('')).not.toMatchObject({
      folders: expect.arrayContaining([expect.objectContaining({ name: 'gone' })]),
    });
    await expect(drive.remove('gone')).rejects.toEqual(code('not_found'));
    await expect(drive.remove('')).rejects.toEqual(code('invalid'));
    await drive.put('gone/a.txt', 'anew');
    expect(await drive.walk('gone')).toEqual(['gone/a.txt']);
  });
});

describe('a page of a folder', () => {
  const names = Array.from({ length: 7 }, (_, index) => `f${index}.txt`);

  beforeAll(async () => {
    for (const name of names) await drive.put(`pages/${name}`, name);
    for (const name of ['x', 'y', 'z']) await drive.makeFolder(`pages/${name}`);
  });

  it('has its share of the folders and files, counted from page 0', async () => {
    const pages = await Promise.all(
      [0, 1, 2, 3].map((page) => drive.list('pages', { page, limit: 3 })),
    );
    expect(pages.map(({ files }) => files.map(({ name }) => name))).toEqual([
      names.slice(0, 3),
      names.slice(3, 6),
      names.slice(6),
      [],
    ]);
    expect(pages.map(({ folders }) => folders.map(({ name }) => name))).toEqual([
      ['x', 'y', 'z'],
      [],
      [],
      [],
    ]);
    expect(new Set(pages.map(({ totalFiles }) => totalFiles))).toEqual(new Set([7]));
    // A page by number also returns a cursor.
    const rest = await drive.list('pages', { limit: 3, cursor: pages[1]?.nextCursor });
    expect(rest).toMatchObject({ files: [{ name: 'f6.txt' }], folders: [], nextCursor: null });
  });

  it.each([
    { limit: 0 },
    { limit: 201 },
    { page: -1 },
    { page: 0.5 },
    { cursor: 'x' },
    { cursor: Buffer.from('[1,"\\u0000",""]').toString('base64url') },
    { page: 1, cursor: 'x' },
    { prefix: '../' },
    { other: 1 },
  ])('is refused for %j', async (query) => {
    await expect(drive.list('pages', query)).rejects.toEqual(code('invalid'));
  });
});

describe('the routes for files below a world', () => {
  it('list and move the files of the project', async () => {
    const params = { containerId: 'notes' };
    await drive.put('shared/a.txt', 'a');
    const { body } = await control.read(api.listFilesOfEnvironment, {
      params,
      query: { prefix: 'shared' },
    });
    expect(body.files).toMatchObject([{ path: 'shared/a.txt' }]);
    const moved = await control.send(api.moveFileOfEnvironment, {
      params,
      body: { fromPath: 'shared/a.txt', toPath: 'shared/b.txt' },
    });
    expect(moved.body).toEqual({ moved: 1 });
    expect(await drive.walk('shared')).toEqual(['shared/b.txt']);
    await expect(
      control.read(api.listFilesOfEnvironment, { params: { containerId: 'none' } }),
    ).rejects.toEqual(code('not_found'));
  });
});
