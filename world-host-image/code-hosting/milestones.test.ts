/** Tests milestones, events and assignees of the code host's issues, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  invalid,
  notFound,
  numbers,
  on,
  repository,
  seconds,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const milestone = (number: number) => ({ ...repository, milestone_number: number });

describe('milestones', () => {
  it('are listed, the one that is due next first', async () => {
    const { data } = await world.client().issues.listMilestones(repository);
    expect(data.map(({ title, open_issues }) => [title, open_issues])).toEqual([
      ['2.8', 9],
      ['2.9', 8],
    ]);
    const closed = await world.client().issues.listMilestones({ ...repository, state: 'closed' });
    expect(closed.data.map(({ title }) => title)).toEqual(['2.6', '2.7']);
    const done = await world.client().issues.listMilestones({
      ...repository,
      state: 'all',
      sort: 'completeness',
      direction: 'desc',
    });
    expect(done.data.at(-1)?.closed_issues).toBe(0);
  });

  it('are created, changed, closed and deleted', async () => {
    const made = await world.client().issues.createMilestone({
      ...repository,
      title: '2.10',
      due_on: '2026-03-27T09:00:00+01:00',
    });
    expect(made.status).toBe(201);
    expect(made.data).toMatchObject({
      number: 5,
      due_on: '2026-03-27T08:00:00Z',
      creator: { login: 'quay-triage' },
      open_issues: 0,
    });
    const twice = world.client().issues.createMilestone({ ...repository, title: '2.10' });
    expect(await errorOf(twice)).toEqual(
      invalid({ resource: 'Milestone', field: 'title', code: 'already_exists' }),
    );
    const closed = await world
      .client()
      .issues.updateMilestone({ ...milestone(5), state: 'closed' });
    expect(closed.data.closed_at).toMatch(seconds);
    expect((await world.client().issues.deleteMilestone(milestone(3))).status).toBe(204);
    expect(await errorOf(world.client().issues.getMilestone(milestone(3)))).toEqual(notFound);
    expect((await world.client().issues.get(on(139))).data.milestone).toBeNull();
  });

  it('never get the number of a deleted milestone', async () => {
    const { issues } = world.client();
    const make = async (title: string) =>
      (await issues.createMilestone({ ...repository, title })).data;
    const first = await make('first');
    await issues.deleteMilestone(milestone(first.number));
    const second = await make('second');
    expect([second.number - first.number, second.id - first.id]).toEqual([1, 1]);
  });

  it('have a list of their issues', async () => {
    const list = async (value: string) => {
      const asked = { ...repository, milestone: value, per_page: 100 };
      return numbers((await world.client().issues.listForRepo(asked)).data);
    };
    expect(await list('3')).toEqual([153, 152, 150, 149, 141, 139, 134, 118, 64]);
    expect((await list('*')).length + (await list('none')).length).toBe(28);
    const none = world.client().issues.listForRepo({ ...repository, milestone: '77' });
    expect((await errorOf(none)).status).toBe(422);
    await world.client().issues.update({ ...on(139), milestone: 4 });
    expect(await list('3')).not.toContain(139);
    await world.client().issues.update({ ...on(139), milestone: '' });
    expect((await world.client().issues.get(on(139))).data.milestone).toBeNull();
    await world.client().issues.update({ ...on(139), milestone: 4 });
    await world.client().issues.update({ ...on(139), milestone: null });
    expect(await list('none')).toContain(139);
    const wrong = world.client().issues.update({ ...on(139), milestone: 77 });
    expect(await errorOf(wrong)).toEqual(
      invalid({ value: 77, resource: 'Issue', field: 'milestone', code: 'invalid' }),
    );
    const labels = await world.client().issues.listLabelsForMilestone(milestone(3));
    expect(labels.data.map(({ name }) => name)).toContain('area: emails');
  });
});

describe('events', () => {
  it('record all changes of an issue', async () => {
    await world.client().issues.update({
      ...on(139),
      title: 'Reminders are early',
      labels: ['bug', 'p1'],
      assignees: ['sam-okafor'],
      milestone: 4,
      state: 'closed',
    });
    const { data } = await world.client().issues.listEvents({ ...on(139), per_page: 100 });
    const mine = data.filter(({ actor }) => actor?.login === 'quay-triage');
    expect(mine.map(({ event }) => event)).toEqual([
      'renamed',
      'unlabeled',
      'labeled',
      'unassigned',
      'assigned',
      'demilestoned',
      'milestoned',
      'closed',
    ]);
    expect(mine[0]).toMatchObject({ rename: { to: 'Reminders are early' } });
    expect(mine[2]).toMatchObject({ label: { name: 'p1', color: 'b60205' } });
    expect(mine[4]).toMatchObject({ assignee: { login: 'sam-okafor' } });
    expect(mine[6]).toMatchObject({ milestone: { title: '2.9' } });
    const id = mine[0]?.id as number;
    const one = await world.client().issues.getEvent({ ...repository, event_id: id });
    expect(one.data).toMatchObject({ event: 'renamed', issue: { number: 139 } });
    const all = await world.client().issues.listEventsForRepo(repository);
    expect(all.data[0]?.event).toBe('closed');
  });

  it('appear in the timeline with all comments', async () => {
    const { data } = await world
      .client()
      .issues.listEventsForTimeline({ ...on(150), per_page: 100 });
    const kinds = new Set(data.map(({ event }) => event));
    for (const kind of ['committed', 'labeled', 'reviewed', 'commented', 'milestoned']) {
      expect(kinds).toContain(kind);
    }
    const named = await world.client().issues.listEventsForTimeline(on(139));
    expect(named.data.find(({ event }) => event === 'cross-referenced')).toMatchObject({
      source: { issue: { number: 47 } },
    });
  });
});

describe('people of an issue', () => {
  it('are added and removed', async () => {
    const added = await world
      .client()
      .issues.addAssignees({ ...on(77), assignees: ['priyaraman', 'jonas-eide'] });
    expect(added.status).toBe(201);
    expect(added.data.assignees?.map(({ login }) => login)).toEqual(['priyaraman', 'jonas-eide']);
    const left = await world
      .client()
      .issues.removeAssignees({ ...on(77), assignees: ['jonas-eide'] });
    expect(left.data.assignees?.map(({ login }) => login)).toEqual(['priyaraman']);
    const people = await world.client().issues.listAssignees(repository);
    expect(people.data.map(({ login }) => login)).toContain('sam-okafor');
  });

  it('include those mentioned in it', async () => {
    await world.client().issues.createComment({ ...on(77), body: 'What do you think, @mikkelh?' });
    const asked = { ...repository, mentioned: 'mikkelh' };
    expect(numbers((await world.client().issues.listForRepo(asked)).data)).toEqual([77]);
  });

  it('have a list of their issues in all repositories', async () => {
    const mine = await world.client().issues.list({ filter: 'assigned' });
    expect(mine.data).toEqual([]);
    await world.client().issues.addAssignees({ ...on(77), assignees: ['quay-triage'] });
    expect(numbers((await world.client().issues.list()).data)).toEqual([77]);
    const all = await world.client().issues.list({ filter: 'all', state: 'all', per_page: 100 });
    expect(new Set(all.data.map(({ repository_url }) => repository_url)).size).toBe(4);
  });
});
