/** Files of a page over HTTP: validators, ranges, codings, media types, and paths that the page itself handles. */
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import { createUiFiles } from './files.ts';
import type { UiRequest } from './service.ts';
import { answerStatic, pageOf } from './static.ts';

const script = `// ${'a line that repeats itself '.repeat(100)}`;
const texts: Record<string, string> = {
  'index.html': '<title>Home</title>',
  'app.js': script,
  'board.html': '<title>Board</title>',
  'docs/index.html': '<title>Docs</title>',
  'empty.txt': '',
  'notes & plans.txt': 'notes',
  'logo.png': 'picture'.repeat(1_000),
};

const digestOf = (text: string): Digest =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`;

const blobs = new Map(Object.values(texts).map((text) => [digestOf(text), Buffer.from(text)]));
const listed = Object.entries(texts).map(([path, text]) => ({
  path,
  sha256: digestOf(text),
  sizeBytes: Buffer.byteLength(text),
}));

let fetched = 0;
const files = createUiFiles(async (digest) => {
  fetched += 1;
  const bytes = blobs.get(digest);
  if (bytes === undefined) throw new AppError('not_found', 'no such blob');
  return bytes;
});

type Asked = { headers?: Record<string, string>; method?: string; entry?: string };

const ask = async (url: string, { headers = {}, method = 'GET', entry = '/' }: Asked = {}) => {
  const [path = '/', query = ''] = url.split('?');
  const request: UiRequest = {
    method,
    path,
    query: new URLSearchParams(query),
    headers,
    readBody: async () => undefined,
  };
  const { body, ...answer } = await answerStatic(files, pageOf({ entry }, listed), request);
  return { ...answer, body: body === null ? null : Buffer.from(body), text: String(body ?? '') };
};

const textAt = async (url: string, asked?: Asked) => {
  const { status, body } = await ask(url, asked);
  return [status, body?.toString() ?? ''];
};

describe('a path of the page', () => {
  it('leads to a file, or to the index file of a folder', async () => {
    expect(await textAt('/')).toEqual([200, texts['index.html']]);
    expect(await textAt('/docs/')).toEqual([200, texts['docs/index.html']]);
    expect(await textAt('/notes%20%26%20plans.txt')).toEqual([200, 'notes']);
    expect(await textAt('/empty.txt')).toEqual([200, '']);
    const folder = await ask('/docs?a=1');
    expect([folder.status, folder.headers.location]).toEqual([302, '/docs/?a=1']);
  });

  it.each(['/nothing.js', '/../index.html', '/%2e%2e/secret', '/%', '/%00', '//index.html'])(
    'such as %s is answered 404',
    async (path) => {
      expect((await ask(path)).status).toBe(404);
    },
  );

  it('without a file leads to the entry file if a browser navigates to it, and is 404 if a page loads it as a resource', async () => {
    const opened = { headers: { 'sec-fetch-mode': 'navigate' } };
    expect(await textAt('/issues/7', opened)).toEqual([200, texts['index.html']]);
    expect(await textAt('/issues/7', { headers: { accept: 'text/html,*/*' } })).toEqual([
      200,
      texts['index.html'],
    ]);
    const loaded = { headers: { 'sec-fetch-mode': 'no-cors', accept: 'text/html' } };
    expect((await ask('/issues/7', loaded)).status).toBe(404);
    expect(await textAt('/issues/7', { ...opened, entry: '/board.html' })).toEqual([
      200,
      texts['board.html'],
    ]);
  });

  it('redirects from the root to the entry page, and never to another host', async () => {
    const first = await ask('/', { entry: '/board.html?view=all' });
    expect([first.status, first.headers.location]).toEqual([302, '/board.html?view=all']);
    for (const entry of ['//evil.test', '/?view=all']) {
      expect(await textAt('/', { entry }), entry).toEqual([200, texts['index.html']]);
    }
  });

  it('can be read but not written', async () => {
    const posted = await ask('/', { method: 'POST' });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('a file', () => {
  it('is sent with its media type, and with a validator for conditional requests', async () => {
    const { headers } = await ask('/app.js');
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect((await ask('/logo.png')).headers['content-type']).toBe('image/png');
    const etag = String(headers.etag);
    const again = await ask('/app.js', { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect([again.status, again.body]).toEqual([304, null]);
    expect((await ask('/app.js', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('is sent in ranges', async () => {
    const part = async (range: string, more: Record<string, string> = {}) => {
      const { status, headers, text } = await ask('/notes%20%26%20plans.txt', {
        headers: { range, ...more },
      });
      return [status, headers['content-range'], text];
    };
    expect(await part('bytes=1-2')).toEqual([206, 'bytes 1-2/5', 'ot']);
    expect(await part('bytes=-2')).toEqual([206, 'bytes 3-4/5', 'es']);
    expect(await part('bytes=3-99')).toEqual([206, 'bytes 3-4/5', 'es']);
    expect(await part('bytes=9-')).toEqual([416, 'bytes */5', '']);
    expect(await part('bytes=0-0,4-4')).toEqual([200, undefined, 'notes']);
    expect(await part('lines=0-1')).toEqual([200, undefined, 'notes']);
    const etag = String((await ask('/notes%20%26%20plans.txt')).headers.etag);
    expect(await part('bytes=1-2', { 'if-range': etag })).toEqual([206, 'bytes 1-2/5', 'ot']);
    expect(await part('bytes=1-2', { 'if-range': '"old"' })).toEqual([200, undefined, 'notes']);
  });

  it('is compressed in a coding that the client accepts, if that saves bytes, and then has a validator of its own', async () => {
    const plain = await ask('/app.js');
    const brotli = await ask('/app.js', { headers: { 'accept-encoding': 'gzip, br' } });
    expect(brotli.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' });
    expect(brotliDecompressSync(brotli.body ?? '').toString()).toBe(script);
    expect(brotli.headers.etag).not.toBe(plain.headers.etag);
    const gzip = await ask('/app.js', { headers: { 'accept-encoding': 'gzip, br;q=0' } });
    expect(gunzipSync(gzip.body ?? '').toString()).toBe(script);
    for (const headers of [{ 'accept-encoding': 'deflate' }, { range: 'bytes=0-1' }]) {
      const sent = await ask('/app.js', { headers: { 'accept-encoding': 'zstd', ...headers } });
      expect(sent.headers['content-encoding']).toBeUndefined();
    }
    for (const path of ['/logo.png', '/index.html']) {
      const { headers } = await ask(path, { headers: { 'accept-encoding': 'br' } });
      expect(headers['content-encoding'], path).toBeUndefined();
    }
  });

  it('is fetched from the control plane once for all requests, and fetched again after a failure', async () => {
    const only = digestOf('late');
    let answers = 0;
    const late = createUiFiles(async () => {
      answers += 1;
      if (answers === 1) throw new AppError('unavailable', 'away');
      return Buffer.from('late');
    });
    const file = { path: 'late.txt', sha256: only, sizeBytes: 4 };
    await expect(late.load(file)).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all([late.load(file), late.load(file)]);
    await late.load(file);
    expect(answers).toBe(2);
    const before = fetched;
    await ask('/app.js');
    expect(fetched).toBe(before);
  });

  it('is not served if it does not match its digest', async () => {
    const wrong = createUiFiles(async () => Buffer.from('something else'));
    const file = { path: 'a.txt', sha256: digestOf('a'), sizeBytes: 1 };
    await expect(wrong.load(file)).rejects.toThrow('a.txt have the digest');
  });
});
