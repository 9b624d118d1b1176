import { expect, it } from 'vitest';
import { examine } from '#wire/admin-api/operations.ts';
import type { Client } from '#wire/client.ts';
import { answeringWithin } from './client.ts';

/** Creates a service that never answers. */
const silent: Client = {
  baseUrl: 'http://silent.test/api/admin',
  send: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    }),
};

it('a client with limited patience gives up on a service that does not answer, and reports it', async () => {
  await expect(answeringWithin(silent, 20).send(examine, {})).rejects.toMatchObject({
    code: 'unavailable',
    message: 'http://silent.test/api/admin accepted the request, but did not answer within 0.02 s',
    detail: { hint: expect.stringContaining('read its log') },
  });
});

it("a client with limited patience throws the stop signal's reason when its caller stops it", async () => {
  const stop = new Error('stopped');
  const signal = AbortSignal.abort(stop);
  const hears: Client = {
    ...silent,
    send: async (_, input) => input.signal?.throwIfAborted() as never,
  };
  await expect(answeringWithin(hears, 60_000).send(examine, { signal })).rejects.toBe(stop);
});
