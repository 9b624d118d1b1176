/**
 * Tests the grader of the task `close-duplicate` of the template `code-hosting`: correct work passes, and nothing else
 * does.
 */
import { describe, expect, it } from 'vitest';
import { on, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

describe('the task close-duplicate', () => {
  const work = async (duplicate = 157, original = 139): Promise<void> => {
    await world.tool('add_labels', { ...on(duplicate), labels: ['duplicate'] });
    await world.tool('create_comment', { ...on(duplicate), body: `Duplicate of #${original}` });
    const closing = { state: 'closed', state_reason: 'not_planned' };
    await world.tool('update_issue', { ...on(duplicate), ...closing });
  };

  it('fails an agent that does nothing', async () => {
    expect(await world.grade()).toEqual({
      passed: false,
      failed: [
        '#157 is labelled as a duplicate',
        'a comment on #157 names the original, #139',
        '#157 is closed as not planned',
        '#157 is commented on, and not flooded',
      ],
    });
  });

  it('passes an agent that follows the instruction', async () => {
    await work();
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('passes an agent that follows the instruction in another order and in other words', async () => {
    const closing = { state: 'closed', state_reason: 'not_planned' };
    await world.tool('update_issue', {
      ...on(157),
      ...closing,
      labels: ['area: emails', 'duplicate'],
    });
    const page = 'https://code.example/northquay/berth/issues/139';
    await world.tool('create_comment', {
      ...on(157),
      body: `Thank you, Claire. We follow this in ${page}.`,
    });
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('fails an agent that names a similar issue as the original', async () => {
    await work(157, 131);
    expect((await world.grade()).failed).toEqual(['a comment on #157 names the original, #139']);
  });

  it('fails an agent that closes the original instead of the duplicate', async () => {
    await work(139, 157);
    expect((await world.grade()).failed).toContain('the original, #139, is still open');
  });

  it('fails an agent that also closes the similar issue', async () => {
    await work();
    await work(158, 139);
    expect((await world.grade()).failed).toEqual([
      'no other open issue was closed',
      'no other open issue was labelled as a duplicate',
      'nothing else changed',
    ]);
  });

  it('fails an agent that closes the duplicate for another reason', async () => {
    await work();
    await world.tool('update_issue', { ...on(157), state: 'closed', state_reason: 'completed' });
    expect((await world.grade()).failed).toEqual([
      '#157 is closed as not planned',
      'nothing else changed',
    ]);
  });
});
