/**
 * Temporary files of a killed control plane are removed by the next one that starts on the same
 * disk.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';
import { controlSettings } from '../../support/programs/control-program.ts';
import { type Program, startProgram } from '../../support/programs/program.ts';

const sentBytes = 1_000_000;

let database: TestDatabase;
let folder: string;
let settings: Awaited<ReturnType<typeof controlSettings>>;
let client: Client;
let control: Program;

const start = async (): Promise<void> => {
  const env = { ...settings.env, SVC_FILES_FOLDER: join(folder, 'files') };
  control = await startProgram('src/control/main.ts', env);
};

beforeAll(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'svc-leftovers-'));
  settings = await controlSettings(database.url, folder);
  await start();
  client = createClient({
    baseUrl: `http://127.0.0.1:${settings.ports.public}/api/public`,
    authorization: basicAuthorization(settings.publicKey, settings.secretKey),
  });
}, 120_000);
afterAll(async () => {
  await control.end('SIGTERM');
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const left = async (name: string): Promise<string[]> =>
  readdir(join(folder, 'work', name)).catch(() => []);

const untilLeft = (name: string) =>
  until(async () => (await left(name)).length > 0, {
    timeoutMs: 30_000,
    what: `a file in ${name}`,
  });

const requestUpload = async (bytes: Buffer) => {
  const body = {
    ...{ path: 'large.bin', contentType: 'application/octet-stream', overwrite: true },
    ...{ contentLength: bytes.byteLength },
    sha256: createHash('sha256').update(bytes).digest('base64'),
  };
  return (await client.send(api.requestFileUpload, { body })).body;
};

/** Rewrites a URL to the address at which the control plane listens. */
const atControl = (url: string): URL => {
  const { pathname, search } = new URL(url);
  return new URL(`${pathname}${search}`, `http://127.0.0.1:${settings.ports.public}`);
};

it('a control plane that starts removes half-received and half-synced files, and both succeed on a retry', async () => {
  const bytes = Buffer.alloc(2 * sentBytes, 'x');
  const { uploadUrl, uploadHeaders } = await requestUpload(bytes);
  const half = request(atControl(uploadUrl), {
    method: 'PUT',
    headers: { ...uploadHeaders, 'content-length': String(bytes.byteLength) },
  });
  const broken = new Promise<void>((resolve) => half.once('error', () => resolve()));
  half.write(bytes.subarray(0, sentBytes));
  await untilLeft('received');

  const { data } = (await client.send(api.listProjects, {})).body;
  const own = join(folder, 'files', data[0]?.id ?? '', 'in');
  await mkdir(own, { recursive: true });
  const large = join(own, 'sparse.bin');
  await writeFile(large, '');
  await truncate(large, 900 * 1024 * 1024);
  const connector = { name: 'in', kind: 'folder', folder: 'in', targetPrefix: 'in' } as const;
  const { id } = (await client.send(api.createFileConnector, { body: connector })).body;
  const body = { connectorId: id };
  const syncing = client.send(api.syncFileConnector, { body }).catch(() => undefined);
  await untilLeft('synced');

  await control.end('SIGKILL');
  await broken;
  await syncing;
  expect(await left('received')).toHaveLength(1);
  expect(await left('synced')).toHaveLength(1);

  await start();
  expect([await left('received'), await left('synced')]).toEqual([[], []]);
  await truncate(large, 10);
  const again = await requestUpload(bytes);
  const answer = await fetch(atControl(again.uploadUrl), {
    ...{ method: 'PUT', headers: again.uploadHeaders, body: new Uint8Array(bytes) },
  });
  expect(answer.status).toBe(200);
  const confirm = { fileId: again.fileId, ok: true };
  await client.send(api.confirmFileUpload, { body: confirm });
  // Skips the minute for which the killed control plane still holds the connector.
  await execute(database.url, 'update file_connectors set syncing_until = now()');
  const synced = (await client.send(api.syncFileConnector, { body })).body;
  expect(synced).toMatchObject({ files: 1, status: 'complete' });
  const files = (await client.send(api.listFiles, { query: { prefix: 'in' } })).body.files;
  expect(files.map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([['in/sparse.bin', 10]]);
  expect([await left('received'), await left('synced')]).toEqual([[], []]);
}, 120_000);
