/** Tests the files of a project and their connectors as MCP tools, with the official client. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import * as api from '#wire/public-api/operations.ts';
import { reachable, sumOf } from '../../support/control/file-uploads.ts';
import { connectMcp, textOf } from '../../support/control/mcp.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { projectIdOf } from '../../support/control/settings.ts';

let control: OwnControl;
let client: Client;
let folder: string;
/** The project's subfolder of the shared folder. */
let own: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-test-mcp-files-'));
  control = await startNotesControl({ files: { folder, endpoints: [] } });
  own = join(folder, await projectIdOf(control));
  await mkdir(join(own, 'in'), { recursive: true });
  const as = basicAuthorization(control.publicKey, control.secretKey);
  client = await connectMcp(`${control.running.addresses.public[0]}/api/public/mcp`, as);
});
afterAll(async () => {
  await client.close();
  await control.stop();
  await rm(folder, { recursive: true, force: true });
});

type Answer = Record<string, unknown> & {
  files: { path: string }[];
  folders: { path: string }[];
  data: { id: string; name: string }[];
};

/** Calls a tool and returns its result. If the tool fails, throws an error with its text. */
const use = async (name: string, args: Record<string, unknown> = {}): Promise<Answer> => {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent as Answer;
};

const put = async (path: string, text: string): Promise<Answer> => {
  const upload = await use('request_file_upload', {
    ...{ path, contentType: 'text/plain', contentLength: Buffer.byteLength(text) },
    sha256: sumOf(text),
  });
  const { uploadUrl, uploadHeaders: headers } = upload as unknown as {
    uploadUrl: string;
    uploadHeaders: Record<string, string>;
  };
  const sent = await fetch(reachable(control, uploadUrl), { method: 'PUT', headers, body: text });
  expect(sent.status).toBe(200);
  return use('confirm_file_upload', { fileId: upload.fileId, ok: true });
};

const textAt = async (path: string): Promise<string> => {
  const { url } = await use('get_file', { path });
  return (await fetch(reachable(control, String(url)))).text();
};

describe('an MCP client', () => {
  it('uploads, lists, reads, moves and deletes files', async () => {
    await use('create_folder', { path: 'reports' });
    await put('reports/one.txt', 'one');
    await put('reports/two.txt', 'two');
    expect(await use('list_files', { prefix: 'reports' })).toMatchObject({
      totalFiles: 2,
      files: [{ path: 'reports/one.txt' }, { path: 'reports/two.txt' }],
    });
    expect(await textAt('reports/one.txt')).toBe('one');
    expect(await use('move_file', { fromPath: 'reports', toPath: 'kept' })).toMatchObject({
      moved: expect.any(Number),
    });
    expect(await textAt('kept/two.txt')).toBe('two');
    expect(await use('delete_file', { path: 'kept/one.txt' })).toEqual({ deleted: 1 });
    const { files } = await use('list_files', { prefix: 'kept' });
    expect(files.map(({ path }) => path)).toEqual(['kept/two.txt']);
    await expect(use('get_file', { path: 'kept/one.txt' })).rejects.toThrow('kept/one.txt');
  });

  it('lists connectors and syncs them, from a folder and into a folder', async () => {
    const make = async (body: object) =>
      (await control.send(api.createFileConnector, { body: body as never })).body.id;
    const pulled = await make({
      ...{ name: 'in', kind: 'folder', folder: 'in', targetPrefix: 'from' },
    });
    const pushed = await make({
      ...{ name: 'out', kind: 'folder', folder: 'out', targetPrefix: 'from', direction: 'push' },
    });
    await writeFile(join(own, 'in', 'a.txt'), 'first');
    const { data } = await use('list_file_connectors');
    expect(data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: pulled, name: 'in', targetPrefix: 'from', lastSyncAt: null }),
        expect.objectContaining({ id: pushed, name: 'out' }),
      ]),
    );
    const capture = { found: 1, unchanged: 0, failed: 0, left: 0, bytes: 5 };
    const done = { files: 1, status: 'complete', capture, warnings: [] };
    expect(await use('sync_file_connector', { connectorId: pulled })).toEqual(done);
    expect(await textAt('from/a.txt')).toBe('first');
    expect(await use('sync_file_connector', { connectorId: pushed })).toEqual(done);
    expect(await readFile(join(own, 'out', 'a.txt'), 'utf8')).toBe('first');
    const again = await use('sync_file_connector', { connectorId: pulled });
    expect(again).toMatchObject({ files: 0, capture: { unchanged: 1 } });
    const listed = (await use('list_file_connectors')).data.find(({ id }) => id === pulled);
    expect(listed).toMatchObject({ lastStatus: 'complete', lastSyncAt: expect.any(String) });
  });

  it('gets an error that names the reason for a connector without agent access and for an unknown one', async () => {
    const body = { name: 'closed', kind: 'folder', folder: 'in', agentAccess: false } as const;
    const { id } = (await control.send(api.createFileConnector, { body })).body;
    const sync = (connectorId: string) => use('sync_file_connector', { connectorId });
    await expect(sync(id)).rejects.toThrow('agents may not sync');
    await expect(sync('fcn-01kaz4x0pg8q2m5v7n3c1d9e6f')).rejects.toThrow('fcn-01kaz4x0pg8q2m5v');
  });
});
