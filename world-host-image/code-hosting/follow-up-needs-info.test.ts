/**
 * Tests the grader of the task `follow-up-needs-info` of the template `code-hosting`: correct work passes, and nothing
 * else does.
 */
import { describe, expect, it } from 'vitest';
import { on, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const name = 'needs-info';

const world = await serveCodeHost('follow-up-needs-info');

const closeForgotten = async (): Promise<void> => {
  const body = 'We have not heard of you for a while, so we close this. Tell us if it comes back.';
  await world.tool('create_comment', { ...on(157), body });
  await world.tool('update_issue', { ...on(157), state: 'closed', state_reason: 'not_planned' });
};

describe('the task follow-up-needs-info', () => {
  it('fails an agent that does nothing', async () => {
    expect(await world.grade()).toEqual({
      passed: false,
      failed: [
        'the answered issue, berth#152, needs no info any more',
        'the forgotten issue, berth#157, is closed as not planned',
        'a comment on berth#157 says so',
      ],
    });
  });

  it('has waiting issues that the search lists', async () => {
    const found = await world.tool('search_issues', { q: `org:northquay is:open label:${name}` });
    expect(found).toMatchObject({ total_count: 3 });
  });

  it('passes an agent that examines each issue', async () => {
    await world.tool('remove_label', { ...on(152), name });
    await closeForgotten();
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('passes an agent that works through the API, in another order', async () => {
    await world
      .client()
      .issues.update({ ...on(157), state: 'closed', state_reason: 'not_planned' });
    await world.client().issues.createComment({ ...on(157), body: 'Closed: no answer.' });
    await world.client().issues.setLabels({ ...on(152), labels: ['bug', 'area: billing'] });
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('fails an agent that closes all waiting issues', async () => {
    await closeForgotten();
    for (const issue of [on(152), { owner: 'northquay', repo: 'tide-feed', issue_number: 53 }]) {
      await world.tool('update_issue', { ...issue, state: 'closed', state_reason: 'not_planned' });
    }
    expect((await world.grade()).failed).toEqual([
      'the answered issue, berth#152, needs no info any more',
      'berth#152 is open',
      'tide-feed#53 still waits',
      'nothing else changed',
    ]);
  });

  it('fails an agent that removes every label', async () => {
    await closeForgotten();
    await world.client().issues.removeAllLabels(on(152));
    const other = { owner: 'northquay', repo: 'tide-feed', issue_number: 53 };
    await world.tool('remove_label', { ...other, name });
    await world.tool('create_comment', { ...other, body: 'Still there?' });
    expect((await world.grade()).failed).toEqual([
      'berth#152 keeps its other labels',
      'tide-feed#53 keeps its label',
      'nothing was said on tide-feed#53',
      'nothing else changed',
    ]);
  });
});
