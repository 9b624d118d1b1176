/**
 * Proves the tasks that the tracker bundles: each grader detects the mistakes that it must, solutions pass, and a wrong
 * solution fails.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type IssueTracker, openIssueTracker } from '#test/support/templates/issue-tracker.ts';
import { templateTree } from '#test/support/worlds/worlds.ts';
import type { Proof } from '#wire/public-api/evaluation/proof.ts';

const tasks = templateTree('issue-tracking')
  .flatMap(({ path }) => /^scenarios\/([^/]+)\/scenario\.toml$/.exec(path)?.[1] ?? [])
  .sort();

let world: IssueTracker;
beforeAll(async () => {
  world = await openIssueTracker();
});
afterAll(() => world.stop());

const leila = '5f04bf83253c00009d6ca612';
const owen = '5f04de7225bf00009d6e3f2b';

/** Actions of an agent that read the task carelessly; the grader must fail each of them. */
const wrong: Record<string, () => Promise<unknown>> = {
  // The link points in the wrong direction.
  'close-the-duplicate': async () => {
    await world.tool('link_issues', {
      type: { name: 'Duplicate' },
      inwardIssue: { key: 'BERTH-101' },
      outwardIssue: { key: 'BERTH-102' },
    });
    const fields = { resolution: { name: 'Duplicate' } };
    const step = { issueIdOrKey: 'BERTH-102', transition: { id: '61' }, fields };
    await world.tool('transition_issue', step);
  },
  // Moves every issue of the version, even finished ones.
  'cut-the-release': async () => {
    const { issues } = (await world.tool('search_issues', {
      jql: 'fixVersion = 3.3',
      maxResults: 100,
    })) as { issues: Row[] };
    for (const { key } of issues) {
      const fields = { fixVersions: [{ name: '4.0' }] };
      await world.tool('edit_issue', { issueIdOrKey: key, fields });
    }
    await world.ask('PUT', '/rest/api/3/version/10003', { released: true });
  },
  // Moves the resolved issues as well, and ignores the customers.
  'hand-over-the-desk': async () => {
    const { issues } = (await world.tool('search_issues', {
      jql: `project = SUP AND assignee = ${leila}`,
      maxResults: 100,
    })) as { issues: Row[] };
    for (const { key } of issues) {
      await world.tool('assign_issue', { issueIdOrKey: key, accountId: owen });
    }
  },
  // Uses the hours of the next version.
  'how-much-was-logged': () => world.call('answer', undefined, { answer: 9 }),
};

describe('the proof of a bundled task', { timeout: 240_000 }, () => {
  it('exists for four tasks, each with a wrong solution', () =>
    expect(tasks).toEqual(Object.keys(wrong)));

  it.each(tasks)('passes for %s', async (task) => {
    await world.begin(task);
    const { output, error } = await world.call('prove');
    expect(error).toBeUndefined();
    const proof = output as Proof;
    expect(proof.rows.filter(({ ok }) => !ok)).toEqual([]);
    expect(proof.neverBites).toEqual([]);
    expect(proof.passed).toBe(true);
  });

  it.each(tasks)('uses a grader that fails a careless solution of %s', async (task) => {
    await world.begin(task);
    await wrong[task]?.();
    const { output } = await world.call('grade');
    expect(output).toMatchObject({ passed: false });
  });
});
