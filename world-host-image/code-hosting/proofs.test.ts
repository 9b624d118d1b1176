/**
 * Proves the tasks that the code host bundles: each task's grader detects the mistakes that it must, and the task's
 * solutions pass.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeHost, openCodeHost } from '#test/support/templates/code-hosting.ts';
import { templateTree } from '#test/support/worlds/worlds.ts';
import type { Proof } from '#wire/public-api/evaluation/proof.ts';

const tasks = templateTree('code-hosting')
  .flatMap(({ path }) => /^scenarios\/([^/]+)\/scenario\.toml$/.exec(path)?.[1] ?? [])
  .sort();

let world: CodeHost;
beforeAll(async () => {
  world = await openCodeHost();
});
afterAll(() => world.stop());

describe('the proof of a bundled task', { timeout: 120_000 }, () => {
  it('exists for fourteen tasks', () => expect(tasks).toHaveLength(14));

  it.each(tasks)('passes for %s', async (task) => {
    await world.begin(task);
    const { output, error } = await world.call('prove');
    expect(error).toBeUndefined();
    const proof = output as Proof;
    const amiss = proof.rows.filter(({ ok }) => !ok);
    expect(amiss).toEqual([]);
    expect(proof.neverBites).toEqual([]);
    expect(proof.passed).toBe(true);
  });
});
