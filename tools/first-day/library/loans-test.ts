import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from 'svc_env/testing';

test('a book is returned once', async () => {
  assert.equal((await world.api.post('/loans/2/return')).status, 200);
  assert.equal((await world.api.post('/loans/2/return')).status, 409);
});

test('the task is graded as it should be', async () => {
  await world.prove('return-a-book');
});
