/** Tests the task `move-to-next-release` of the template `code-hosting`, which a Python function grades. */
import { describe, expect, it } from 'vitest';
import { on, repository, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const toMove = [47, 99, 107, 114, 142, 144];

const world = await serveCodeHost('move-to-next-release');

const makeMilestone = async (due_on: string): Promise<number> => {
  const made = await world.tool('create_milestone', { ...repository, title: '2.10', due_on });
  return (made as { number: number }).number;
};

const move = async (numbers: readonly number[], milestone: number): Promise<void> => {
  for (const number of numbers) await world.tool('update_issue', { ...on(number), milestone });
};

describe('the task move-to-next-release', () => {
  it('fails an agent that does nothing', async () => {
    expect(await world.grade()).toEqual({
      passed: false,
      failed: ['there is a milestone 2.10'],
    });
  });

  it.each([
    '2026-03-27T08:00:00Z',
    '2026-03-27',
    '2026-03-27T00:00:00+01:00',
    '2026-03-27T23:59:59Z',
  ])('passes an agent that moves the right issues, with the due date %s', async (due) => {
    await move(toMove, await makeMilestone(due));
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it.each(['2026-03-26T08:00:00Z', '2026-03-28', '2026-03-28T08:00:00Z'])(
    'fails an agent that sets another due date, %s',
    async (due) => {
      await move(toMove, await makeMilestone(due));
      expect((await world.grade()).failed).toEqual(['2.10 is due on 27 March 2026']);
    },
  );

  it('passes an agent that makes a mistake and corrects it', async () => {
    const wrong = await makeMilestone('2026-04-27T08:00:00Z');
    await world.client().issues.deleteMilestone({ ...repository, milestone_number: wrong });
    const right = await makeMilestone('2026-03-27T08:00:00Z');
    await move([...toMove, 84], right);
    await move([84], 4);
    expect(await world.grade()).toEqual({ passed: true, failed: [] });
  });

  it('fails an agent that moves all issues', async () => {
    await move([...toMove, 84, 128, 157], await makeMilestone('2026-03-27T08:00:00Z'));
    expect((await world.grade()).failed).toEqual([
      'nothing else is in 2.10',
      'what is about bookings stayed in 2.9',
      'what is closed stayed in 2.9',
      'nothing else changed',
    ]);
  });

  it('fails an agent that changes another milestone', async () => {
    const number = await makeMilestone('2026-03-27T08:00:00Z');
    await move(toMove, number);
    await move([139], number);
    expect((await world.grade()).failed).toEqual([
      'nothing else is in 2.10',
      '2.8 has what it had',
      'nothing else changed',
    ]);
  });

  it('fails an agent that forgets the pull request, or the due date', async () => {
    const { number } = (await world.tool('create_milestone', {
      ...repository,
      title: '2.10',
    })) as { number: number };
    await move(toMove.slice(0, 4), number);
    expect((await world.grade()).failed).toEqual([
      '2.10 is due on 27 March 2026',
      'what is not about bookings is in 2.10',
    ]);
  });

  it('fails an agent that renames the old milestone', async () => {
    const due_on = '2026-03-27T08:00:00Z';
    await world
      .client()
      .issues.updateMilestone({ ...repository, milestone_number: 4, title: '2.10', due_on });
    expect((await world.grade()).passed).toBe(false);
  });
});
