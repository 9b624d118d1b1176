import { expect, it } from 'vitest';
import { examine } from '#wire/admin-api/operations.ts';
import type { Client } from '#wire/client.ts';
import { answeringWithin } from './client.ts';

/** A service that never answers until it is aborted. */
const silent: Client = {
  baseUrl: 'http://silent.test/api/admin',
  send: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    }),
};

it('stops waiting for a service that does not answer, and reports it', async () => {
  await expect(answeringWithin(silent, 20).send(examine, {})).rejects.toMatchObject({
    code: 'unavailable',
    message: 'http://silent.test/api/admin took the request and did not answer within 0.02 s',
    detail: { hint: expect.stringContaining('see its log') },
  });
});

it('rethrows the stop signal of its caller', async () => {
  const stop = new Error('stopped');
  const signal = AbortSignal.abort(stop);
  const hears: Client = {
    ...silent,
    send: async (_, input) => input.signal?.throwIfAborted() as never,
  };
  await expect(answeringWithin(hears, 60_000).send(examine, { signal })).rejects.toBe(stop);
});
