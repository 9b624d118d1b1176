import { expect, it } from 'vitest';
import type { Client } from '#wire/client.ts';
import type { Output } from '../terminal/context.ts';
import { checkAllBlobs } from './deep-check.ts';

const out = { isTerminal: false, write: () => undefined } as unknown as Output;

/** Creates a service that answers with the given pages, by their number. */
const serving = (pages: readonly string[][]): Client => {
  const send = async (_: unknown, { query }: { query: { after?: string } }) => {
    const page = Number(query.after ?? 0);
    const damaged = (pages[page] ?? []).map((world) => ({ world, blob: 'sha256:b' }));
    const next = page + 1 < pages.length ? String(page + 1) : null;
    const read = { looked: 5, total: 5 * pages.length, bytes: 2 ** 20, place: 'the folder /b' };
    return { status: 200, body: { damaged, next, ...read } };
  };
  return { baseUrl: '', send: send as unknown as Client['send'] };
};

it('the deep check of blobs repeats the request until all blobs were read', async () => {
  expect(await checkAllBlobs(serving([[], [], []]), out)).toEqual({
    name: 'bytes',
    status: 'ok',
    message: 'no blob is damaged: 15 worlds checked, 3 MiB read',
    fix: null,
  });
});

it('the deep check of blobs names the affected worlds, with a hint', async () => {
  expect(await checkAllBlobs(serving([['o/p/one'], [], ['o/p/two']]), out)).toMatchObject({
    status: 'failed',
    message:
      'blobs of 2 worlds are missing or have other contents (15 worlds checked, 3 MiB read): o/p/one (sha256:b), o/p/two (sha256:b)',
    fix: expect.stringContaining('restore them in the folder /b from a copy'),
  });
});
