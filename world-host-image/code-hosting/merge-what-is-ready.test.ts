/**
 * Tests the grader of the task `merge-what-is-ready` of the template `code-hosting`: correct work passes, and nothing
 * else does.
 */
import { describe, expect, it } from 'vitest';
import { pull, repository, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost('merge-what-is-ready');

describe('the task merge-what-is-ready', () => {
  it('fails an agent that does nothing', async () => {
    expect(await world.grade()).toEqual({
      passed: false,
      failed: ['#150 is merged as one commit', 'the branch of #150 is gone'],
    });
  });

  it('passes an agent that works through the API', async () => {
    await world.client().pulls.merge({ ...pull(150), merge_method: 'squash' });
    await world.client().git.deleteRef({ ...repository, ref: 'heads/occupancy-nights' });
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('passes an agent that works through tools, and reports what it did', async () => {
    const found = await world.tool('search_issues', {
      q: 'repo:northquay/berth is:pr is:open milestone:2.8 review:approved',
    });
    expect(found).toMatchObject({ total_count: 1, items: [{ number: 150 }] });
    await world.tool('merge_pull', { ...pull(150), merge_method: 'squash' });
    await world.tool('delete_branch', { ...repository, branch: 'occupancy-nights' });
    await world.tool('create_comment', { ...repository, issue_number: 150, body: 'In 2.8.' });
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('passes an agent that lets the repository delete branches', async () => {
    await world.client().repos.update({ ...repository, delete_branch_on_merge: true });
    await world.client().pulls.merge({ ...pull(150), merge_method: 'squash' });
    await world.client().repos.update({ ...repository, delete_branch_on_merge: false });
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('fails an agent that merges a pull request of a later release', async () => {
    await world.tool('merge_pull', { ...pull(150), merge_method: 'squash' });
    await world.tool('delete_branch', { ...repository, branch: 'occupancy-nights' });
    await world.tool('merge_pull', { ...pull(157), merge_method: 'squash' });
    expect((await world.grade()).failed).toEqual([
      'no other pull request was merged',
      'the other pull requests are open',
      'nothing else changed',
    ]);
  });

  it('fails an agent that approves and merges a pull request to which reviewers object', async () => {
    await world.tool('create_review', { ...pull(155), event: 'APPROVE' });
    await world.tool('merge_pull', { ...pull(155) });
    expect((await world.grade()).passed).toBe(false);
  });

  it('fails an agent that merges with another method, or closes pull requests instead', async () => {
    await world.tool('merge_pull', pull(150));
    await world.tool('delete_branch', { ...repository, branch: 'occupancy-nights' });
    expect((await world.grade()).failed).toEqual([
      '#150 is merged as one commit',
      'nothing else changed',
    ]);
    await world.reset();
    await world.tool('delete_branch', { ...repository, branch: 'occupancy-nights' });
    expect((await world.grade()).failed).toEqual(['#150 is merged as one commit']);
  });
});
