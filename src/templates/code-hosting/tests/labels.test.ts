// Labels of issues, by the routes. `svc worlds test <folder>` runs these.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { world } from 'svc_env/testing';

const repository = '/repos/northquay/berth';

describe('labels', () => {
  it('are given to an issue and read back', async () => {
    const made = await world.api.post(`${repository}/issues`, { json: { title: 'Wet ropes' } });
    const { number } = made.json() as { number: number };
    const labels = `${repository}/issues/${number}/labels`;
    await world.api.post(labels, { json: { labels: ['duplicate'] } });
    const found = (await world.api.get(labels)).json() as { name: string }[];
    assert.deepEqual(
      found.map(({ name }) => name),
      ['duplicate'],
    );
  });

  it('that there are not are answered as the vendor does', async () => {
    const answer = await world.api.get(`${repository}/labels/no-such-label`);
    assert.equal(answer.status, 404);
  });
});
