/** An unexpected error in the host: its request is answered and recorded, and the next request is served. */
import { afterAll, expect, it } from 'vitest';
import { notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';

const api = await serveApi({
  operations: operation('GET', '/notes') + operation('GET', '/others'),
  notes: notesUpTo(1),
});
afterAll(() => api.stop());

it('a bug of the host is answered with a 500 without details, and the ledger has its stack trace', async () => {
  // Simulates a bug: no compiled contract has a read route without an entity, so no code handles one.
  for (const route of api.contract.api?.routes ?? []) {
    if (route.path === '/others') route.entity = null;
  }
  const { status, json } = await api.get('/others');
  expect([status, json]).toEqual([500, { message: 'internal error' }]);
  expect((await api.get('/notes')).status).toBe(200);
  expect(await api.requests()).toMatchObject([
    {
      operation: 'get_others',
      status: 500,
      response: { reason: expect.stringMatching(/names no entity\n +at .+\.ts:\d+/) },
    },
    { operation: 'get_notes', status: 200 },
  ]);
});
