/**
 * Tests connectors of project files to folders and buckets: creating, listing and syncing them, and the addresses and
 * paths that they must never reach.
 */
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import type { FileConnectorBody } from '#wire/public-api/projects/file-connector.ts';
import { guardedLookup } from '../../../src/control/platform/blobs/places/guarded-lookup.ts';
import { createAsker } from '../../support/control/client.ts';
import { driveOf } from '../../support/control/file-uploads.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';
import { startTestBucket, type TestBucket } from '../../support/programs/s3.ts';

const code = (value: string) => expect.objectContaining({ code: value });
const secretWord = 'S3RVER-never-shown';

let control: OwnControl;
let drive: ReturnType<typeof driveOf>;
let bucket: TestBucket;
let folder: string;
/** The project's subfolder of the shared folder. */
let own: string;

beforeAll(async () => {
  bucket = await startTestBucket();
  folder = await mkdtemp(join(tmpdir(), 'svc-test-files-'));
  control = await startNotesControl({
    files: { folder, endpoints: [bucket.place.endpoint ?? ''] },
  });
  drive = driveOf(control);
  own = join(folder, await projectIdOf(control));
  await mkdir(own);
});
afterAll(async () => {
  await control.stop();
  await bucket.stop();
  await rm(folder, { recursive: true, force: true });
});

const make = async (body: FileConnectorBody) =>
  (await control.send(api.createFileConnector, { body })).body;
const sync = async (connectorId: string) =>
  (await control.send(api.syncFileConnector, { body: { connectorId } })).body;
const bucketBody = (name: string, prefix: string): FileConnectorBody => ({
  ...{ name, kind: 'bucket', targetPrefix: name },
  bucket: {
    ...{ name: bucket.place.bucket, prefix: `${bucket.place.prefix}/${prefix}` },
    endpoint: bucket.place.endpoint ?? '',
    accessKeyId: bucket.keys.AWS_ACCESS_KEY_ID,
    secretAccessKey: bucket.keys.AWS_SECRET_ACCESS_KEY,
  },
});
const text = (words: string) => new TextEncoder().encode(words);

describe('the bucket of a file connector', () => {
  it('is pulled into the project, and later only changed files are', async () => {
    await bucket.write('in/a.txt', text('one'));
    await bucket.write('in/deep/b.json', text('{}'));
    await bucket.write('in/deep/', text(''));
    const { id, ...view } = await make(bucketBody('pulled', 'in'));
    expect(view).toMatchObject({
      ...{ kind: 'bucket', direction: 'pull', targetPrefix: 'pulled', agentAccess: true },
      ...{ lastSyncAt: null, lastStatus: null, connectionId: expect.stringMatching(/^cnx-/) },
    });
    expect(await sync(id)).toEqual({
      ...{ files: 2, status: 'complete', warnings: [] },
      capture: { found: 2, unchanged: 0, failed: 0, left: 0, bytes: 5 },
    });
    expect((await drive.get('pulled/a.txt')).text).toBe('one');
    expect((await drive.get('pulled/deep/b.json')).view.sizeBytes).toBe(2);
    expect(await sync(id)).toMatchObject({ files: 0, capture: { found: 2, unchanged: 2 } });
    await bucket.write('in/a.txt', text('another'));
    await drive.remove('pulled/deep/b.json');
    expect(await sync(id)).toMatchObject({ files: 2, status: 'complete' });
    expect((await drive.get('pulled/a.txt')).text).toBe('another');
    expect(await drive.walk('pulled')).toEqual(['pulled/a.txt', 'pulled/deep/b.json']);
    const { body } = await control.send(api.listFileConnectors, {});
    expect(body.data.find((one) => one.id === id)).toMatchObject({ lastStatus: 'complete' });
  });

  it('receives pushed files, and receives them again if they were lost or changed', async () => {
    await drive.put('pushed/x.txt', 'x');
    await drive.put('pushed/in/y.txt', 'yy');
    const { id } = await make({ ...bucketBody('pushed', 'out'), direction: 'push' });
    expect(await sync(id)).toMatchObject({ files: 2, status: 'complete', warnings: [] });
    expect(Buffer.from(await bucket.read('out/in/y.txt')).toString()).toBe('yy');
    expect(await sync(id)).toMatchObject({ files: 0, capture: { unchanged: 2 } });
    await bucket.write('out/x.txt', text('another writer was here'));
    await drive.put('pushed/in/y.txt', 'y3', { overwrite: true });
    expect(await sync(id)).toMatchObject({ files: 2 });
    expect(Buffer.from(await bucket.read('out/x.txt')).toString()).toBe('x');
    expect(Buffer.from(await bucket.read('out/in/y.txt')).toString()).toBe('y3');
  });

  it('has only files with valid paths pulled, and warnings name the other files', async () => {
    await bucket.write('odd/good.txt', text('good'));
    await bucket.write('odd/back\\slash.txt', text('x'));
    const { id } = await make(bucketBody('odd', 'odd'));
    const answer = await sync(id);
    expect(answer).toMatchObject({ files: 1, status: 'complete', capture: { found: 2 } });
    expect(answer.warnings.map(({ path }) => path)).toEqual(['back\\slash.txt']);
    expect(await drive.walk('odd')).toEqual(['odd/good.txt']);
  });

  it('that cannot be reached fails the sync with the reason, and a later sync completes', async () => {
    await bucket.write('away/a.txt', text('a'));
    const { id } = await make(bucketBody('away', 'away'));
    await bucket.door.shut();
    const failed = await sync(id);
    await bucket.door.open();
    expect(failed).toMatchObject({ files: 0, status: 'failed' });
    expect(failed.warnings).toEqual([
      { path: '', message: expect.stringMatching(/^s3:\/\/.* cannot be used: /) },
    ]);
    expect(await sync(id)).toMatchObject({ files: 1, status: 'complete' });
  }, 60_000);

  it('is read only with its own keys, which are never shown', async () => {
    const body = bucketBody('keys', 'in');
    const wrong = {
      ...body,
      bucket: { ...body.bucket, name: 'x-y-z', secretAccessKey: secretWord },
    };
    const made = await make(wrong);
    const answer = await sync(made.id);
    expect(answer.status).toBe('failed');
    const shown = JSON.stringify([
      made,
      answer,
      (await control.send(api.listFileConnectors, {})).body,
    ]);
    expect(shown).not.toContain(secretWord);
    const rows = await control.sql('select * from file_connections');
    expect(JSON.stringify(rows)).not.toContain(secretWord);
    expect(JSON.stringify(rows)).not.toContain(bucket.keys.AWS_SECRET_ACCESS_KEY);
  });

  it('can share the keys of another connector, which are deleted with the last connector that uses them', async () => {
    const first = await make(bucketBody('first-of-two', 'in'));
    const connectionId = first.connectionId ?? '';
    const given = { name: bucket.place.bucket, prefix: `${bucket.place.prefix}/in`, connectionId };
    const second = await make({
      name: 'second-of-two',
      kind: 'bucket',
      bucket: given,
      targetPrefix: 'two',
    });
    expect(second.connectionId).toBe(connectionId);
    await control.send(api.deleteFileConnector, { params: { connectorId: first.id } });
    expect(await sync(second.id)).toMatchObject({ status: 'complete', files: 2 });
    await control.send(api.deleteFileConnector, { params: { connectorId: second.id } });
    expect(await control.sql('select from file_connections where id = $1', [connectionId])).toEqual(
      [],
    );
    expect(await drive.walk('two')).toEqual(['two/a.txt', 'two/deep/b.json']);
    await expect(make({ name: 'third', kind: 'bucket', bucket: given })).rejects.toEqual(
      code('invalid'),
    );
  });

  it.each([
    'http://s3.example.com',
    'https://127.0.0.1',
    'https://169.254.169.254',
    'https://[::1]',
    'https://localhost',
    'https://10.0.0.1:9000',
    'https://user:word@s3.amazonaws.com',
    'https://s3.amazonaws.com:8443',
    'https://s3.amazonaws.com/path',
    'https://minio.internal',
    'file:///etc/passwd',
    'http://127.0.0.1:1',
  ])('is refused at the endpoint %s', async (endpoint) => {
    const body = bucketBody('outside', 'in');
    const given = { ...body, bucket: { ...body.bucket, name: 'a-bucket', endpoint } };
    await expect(make(given)).rejects.toEqual(code('invalid'));
  });

  it('is not connected to if its name resolves to an address that is not public', async () => {
    const lookUp = (addresses: string[]) =>
      new Promise((resolve) => {
        guardedLookup(async () => addresses)('bucket.example.com', { all: true }, (error, found) =>
          resolve(error?.message ?? found),
        );
      });
    expect(await lookUp(['127.0.0.1'])).toContain('is not public');
    expect(await lookUp(['8.8.8.8', '::1'])).toContain('is not public');
    expect(await lookUp(['8.8.8.8'])).toEqual([{ address: '8.8.8.8', family: 4 }]);
  });
});

describe('the folder of a file connector', () => {
  const inFolder = (name: string, path: string): FileConnectorBody => ({
    ...{ name, kind: 'folder', folder: path, targetPrefix: name },
  });

  it('is pulled without following links, and receives pushed files', async () => {
    await mkdir(join(own, 'given/deep'), { recursive: true });
    await writeFile(join(own, 'given/a.csv'), 'a,b');
    await writeFile(join(own, 'given/deep/b.txt'), 'b');
    await writeFile(join(folder, 'outside.txt'), 'outside');
    await symlink(join(folder, 'outside.txt'), join(own, 'given/link.txt'));
    await symlink(folder, join(own, 'given/up'));
    const { id } = await make(inFolder('from-folder', 'given'));
    const answer = await sync(id);
    expect(answer).toMatchObject({ files: 2, status: 'complete' });
    expect(answer.warnings.map(({ path }) => path)).toEqual(['link.txt', 'up']);
    expect((await drive.get('from-folder/a.csv')).view.contentType).toBe('text/csv');
    await utimes(join(own, 'given/a.csv'), 1, 1);
    // The time of the file changed and its bytes did not, so only its metadata is written.
    expect(await sync(id)).toMatchObject({ files: 1 });
    expect(await sync(id)).toMatchObject({ files: 0 });
    await drive.put('to-folder/in/c.txt', 'c');
    const push = await make({ ...inFolder('to-folder', 'taken/here'), direction: 'push' });
    expect(await sync(push.id)).toMatchObject({ files: 1, status: 'complete' });
    expect(await readFile(join(own, 'taken/here/in/c.txt'), 'utf8')).toBe('c');
    expect(await readdir(join(own, 'taken/here/in'))).toEqual(['c.txt']);
  });

  it('is not used if it is a link, lies behind a link, or does not exist', async () => {
    await symlink('/etc', join(own, 'etc'));
    for (const path of ['etc', 'etc/ssl', 'none']) {
      const { id } = await make(inFolder(`link ${path}`, path));
      expect(await sync(id)).toMatchObject({ files: 0, status: 'failed' });
    }
    await drive.put('link push/x.txt', 'x');
    const push = await make({ ...inFolder('link push', 'etc'), direction: 'push' });
    expect(await sync(push.id)).toMatchObject({ files: 0, status: 'failed' });
    await mkdir(join(own, 'inner'));
    await symlink('/tmp', join(own, 'inner/sub'));
    await drive.put('inner push/sub/x.txt', 'x');
    const inner = await make({ ...inFolder('inner push', 'inner'), direction: 'push' });
    expect(await sync(inner.id)).toMatchObject({
      files: 0,
      status: 'failed',
      capture: { failed: 1 },
    });
  });

  it.each(['../other', 'a/../../b', '/etc', 'a\\b', 'a\0b', '..'])(
    'cannot have the path %j',
    async (path) => {
      await expect(make(inFolder('climbing', path))).rejects.toEqual(code('invalid'));
    },
  );
});

describe('a file connector', () => {
  it('without agent access cannot be synced until access is given', async () => {
    await mkdir(join(own, 'closed'));
    const made = await make({
      name: 'closed',
      kind: 'folder',
      folder: 'closed',
      agentAccess: false,
    });
    await expect(sync(made.id)).rejects.toEqual(code('invalid'));
    const params = { connectorId: made.id };
    const { body } = await control.send(api.changeFileConnector, {
      params,
      body: { agentAccess: true },
    });
    expect(body).toEqual({ ...made, agentAccess: true });
    expect(await sync(made.id)).toMatchObject({ status: 'complete' });
  });

  it('has one sync at a time, and a sync whose lease expired is replaced', async () => {
    await mkdir(join(own, 'busy'));
    const { id } = await make({ name: 'busy', kind: 'folder', folder: 'busy' });
    const claim = `update file_connectors set sync_id = 'other', syncing_until = now() + $2::interval where id = $1`;
    await control.sql(claim, [id, '1 minute']);
    await expect(sync(id)).rejects.toEqual(code('conflict'));
    await control.sql(claim, [id, '-1 second']);
    expect(await sync(id)).toMatchObject({ status: 'complete' });
  });

  it('stops at the storage quota, and reports it', async () => {
    await mkdir(join(own, 'large'));
    for (const name of ['a', 'b', 'c'])
      await writeFile(join(own, 'large', name), name.repeat(600_000));
    const { id } = await make({
      name: 'large',
      kind: 'folder',
      folder: 'large',
      targetPrefix: 'large',
    });
    await control.sql('update projects set quota_blob_mib = 1');
    const answer = await sync(id);
    await control.sql('update projects set quota_blob_mib = null');
    expect(answer.status).toBe('failed');
    expect(answer.warnings[0]?.message).toContain('quota');
    expect(await sync(id)).toMatchObject({ status: 'complete' });
    expect(await drive.walk('large')).toEqual(['large/a', 'large/b', 'large/c']);
  });

  it('is also available below each world of the project, but not to the public key', async () => {
    const params = { containerId: 'notes' };
    const body = { name: 'by world', kind: 'folder', folder: 'closed' } as const;
    const made = (await control.send(api.createFileConnectorOfEnvironment, { params, body })).body;
    const synced = await control.send(api.syncFileConnectorOfEnvironment, {
      ...{ params, body: { connectorId: made.id } },
    });
    expect(synced.body.status).toBe('complete');
    const list = await control.send(api.listFileConnectorsOfEnvironment, {
      params,
      query: { limit: 100 },
    });
    expect(list.body.data.map(({ id }) => id)).toContain(made.id);
    await expect(control.read(api.listFileConnectors, {})).rejects.toEqual(code('forbidden'));
    await expect(make({ ...body, name: 'by world' })).rejects.toEqual(code('conflict'));
    await expect(sync('fcn-01kaz4x0pg8q2m5v7n3c1d9e6f')).rejects.toEqual(code('not_found'));
  });

  const right = { name: 'n', kind: 'folder', folder: 'x' };
  const keys = { accessKeyId: 'a', secretAccessKey: 'b' };
  it.each<[string, object | null | undefined]>([
    ['absent', undefined],
    ['null', null],
    ['a list', []],
    ['empty', {}],
    ['hostile', JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1}')],
    ['without kind', { ...right, kind: undefined }],
    ['of another kind', { ...right, kind: 'ftp' }],
    ['with a null for its name', { ...right, name: null }],
    ['with a name of a megabyte', { ...right, name: 'x'.repeat(1_000_000) }],
    ['with a member too many', { ...right, more: 1 }],
    ['with a bucket and a folder', { ...right, bucket: { name: 'abc', ...keys } }],
    ['of a bucket without keys', { name: 'n', kind: 'bucket', bucket: { name: 'abc' } }],
    ['of a bucket that is a path', { name: 'n', kind: 'bucket', bucket: { name: 'a/b', ...keys } }],
    [
      'of a region that is a host',
      { name: 'n', kind: 'bucket', bucket: { name: 'abc', ...keys, region: 'x.evil.com/' } },
    ],
    ['with a target above the top', { ...right, targetPrefix: '../x' }],
    ['with access in words', { ...right, agentAccess: 'yes' }],
  ])('is not created from a body that is %s', async (_, body) => {
    const ask = createAsker(control);
    const as = basicAuthorization(control.publicKey, control.secretKey);
    const before = await control.sql('select count(*) from file_connectors');
    for (const path of ['/files/connectors', '/files/connectors/sync']) {
      expect((await ask('POST', path, { as, body: body as object })).status).toBe(400);
    }
    expect(await control.sql('select count(*) from file_connectors')).toEqual(before);
  });
});
