/** Sends files to a control plane of a test as a client does: requests an upload, sends, confirms. */
import { createHash } from 'node:crypto';
import { reap } from '#wire/pool-api/operations.ts';
import * as api from '#wire/public-api/operations.ts';
import type { TestControl } from './control.ts';

export const sumOf = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('base64');

/** Replaces the host of a signed address by the one on which the control plane listens. */
export const reachable = (control: TestControl, given: string): string => {
  if (!given.startsWith('https://svc.test/')) return given;
  const { pathname, search } = new URL(given);
  return `${control.running.addresses.public[0]}${pathname}${search}`;
};

export const driveOf = (control: TestControl) => {
  const request = async (path: string, text: string, rest: { overwrite?: boolean } = {}) => {
    const body = {
      ...{ path, contentLength: Buffer.byteLength(text), contentType: 'text/plain' },
      ...{ sha256: sumOf(text), ...rest },
    };
    return (await control.send(api.requestFileUpload, { body })).body;
  };
  const send = (
    { uploadUrl, uploadHeaders }: { uploadUrl: string; uploadHeaders: Record<string, string> },
    text: string,
  ): Promise<Response> =>
    fetch(reachable(control, uploadUrl), { method: 'PUT', headers: uploadHeaders, body: text });
  const confirm = async (fileId: string, ok = true) =>
    (await control.send(api.confirmFileUpload, { body: { fileId, ok } })).body;
  const list = async (prefix = '', query: object = {}) =>
    (await control.read(api.listFiles, { query: { prefix, ...query } })).body;
  return {
    ...{ request, send, confirm, list },
    /** Creates a file. */
    async put(path: string, text: string, rest: { overwrite?: boolean } = {}) {
      const upload = await request(path, text, rest);
      const answer = await send(upload, text);
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      return confirm(upload.fileId);
    },
    /** Returns the text of a file, with the headers of its download. */
    async get(path: string) {
      const { body } = await control.read(api.downloadFile, { query: { path } });
      const answer = await fetch(reachable(control, body.url));
      return { text: await answer.text(), headers: answer.headers, view: body };
    },
    /** Returns the paths of all files, folder by folder. */
    async walk(prefix = ''): Promise<string[]> {
      const paths: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await list(prefix, cursor === undefined ? {} : { cursor });
        paths.push(...page.files.map(({ path }) => path));
        for (const folder of page.folders) paths.push(...(await this.walk(folder.path)));
        if (page.nextCursor === null) return paths;
        cursor = page.nextCursor;
      }
    },
    move: async (fromPath: string, toPath: string) =>
      (await control.send(api.moveFile, { body: { fromPath, toPath } })).body.moved,
    remove: async (path: string) =>
      (await control.send(api.deleteFile, { query: { path } })).body.deleted,
    makeFolder: async (path: string) => control.send(api.createFolder, { body: { path } }),
  };
};

/** Makes the control plane do its periodic work: one turn of its reaper. */
export const tidy = (control: TestControl) =>
  control.pool(reap, {
    body: { idleMs: 600_000, maxAgeMs: 600_000, provisionMs: 600_000, closingMs: 600_000 },
  });
