/** Tests issues of the code host, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  invalid,
  names,
  notFound,
  on,
  repository,
  seconds,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

describe('the list of issues', () => {
  it('returns open issues, newest first', async () => {
    const { data } = await world.client().issues.listForRepo(repository);
    expect(data).toHaveLength(28);
    expect(data.every(({ state }) => state === 'open')).toBe(true);
    expect(data.slice(0, 3).map(({ number }) => number)).toEqual([158, 157, 156]);
  });

  it('returns closed issues, or all issues', async () => {
    const closed = await world.client().issues.listForRepo({ ...repository, state: 'closed' });
    expect(closed.data).toHaveLength(30);
    const all = await world
      .client()
      .issues.listForRepo({ ...repository, state: 'all', per_page: 100 });
    expect(all.data).toHaveLength(58);
  });

  it('filters by labels, all of which an issue must have', async () => {
    const found = await world
      .client()
      .issues.listForRepo({ ...repository, labels: 'Bug,area: emails' });
    expect(found.data.map(({ number }) => number)).toEqual([149, 139, 131]);
    const none = await world
      .client()
      .issues.listForRepo({ ...repository, labels: 'no such label' });
    expect(none.data).toEqual([]);
  });

  it('filters by creator, assignee and time', async () => {
    const by = await world.client().issues.listForRepo({ ...repository, creator: 'mikkelh' });
    expect(by.data.every(({ user }) => user?.login === 'mikkelh')).toBe(true);
    const mine = await world.client().issues.listForRepo({ ...repository, assignee: 'sam-okafor' });
    expect(mine.data.map(({ number }) => number)).toEqual([156, 147]);
    const free = await world.client().issues.listForRepo({ ...repository, assignee: 'none' });
    const taken = await world.client().issues.listForRepo({ ...repository, assignee: '*' });
    expect(free.data.length + taken.data.length).toBe(28);
    const late = await world.client().issues.listForRepo({
      ...repository,
      since: '2025-11-17T00:00:00Z',
    });
    expect(late.data.map(({ number }) => number)).toEqual([158, 157]);
  });

  it('sorts by the requested field', async () => {
    const busy = await world.client().issues.listForRepo({
      ...repository,
      state: 'all',
      sort: 'comments',
    });
    const counts = busy.data.map(({ comments }) => comments);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    const oldest = await world.client().issues.listForRepo({ ...repository, direction: 'asc' });
    expect(oldest.data[0]?.number).toBe(47);
  });

  it('ignores invalid page numbers, and returns at most a hundred issues', async () => {
    const asked = { ...repository, state: 'all' as const };
    const odd = { ...asked, per_page: 'many' as unknown as number, page: 0 };
    expect((await world.client().issues.listForRepo(odd)).data).toHaveLength(30);
    const huge = await world.client().issues.listForRepo({ ...asked, per_page: 1_000 });
    expect(huge.data).toHaveLength(58);
    const beyond = await world.client().issues.listForRepo({ ...asked, page: 99 });
    expect(beyond.data).toEqual([]);
  });

  it('refuses an unknown state', async () => {
    const asked = { ...repository, state: 'solved' as 'open' };
    expect(await errorOf(world.client().issues.listForRepo(asked))).toEqual(
      invalid({ resource: 'Issue', field: 'state', code: 'invalid' }),
    );
  });
});

describe('issues', () => {
  it('are returned with complete users and labels', async () => {
    const { data } = await world.client().issues.get(on(40));
    expect(data).toMatchObject({
      number: 40,
      state: 'closed',
      state_reason: 'completed',
      user: { login: 'jonas-eide', type: 'User' },
      closed_by: { login: 'priyaraman' },
      assignee: { login: 'priyaraman' },
      assignees: [{ login: 'priyaraman' }, { login: 'tobias-wendt' }],
      comments: 4,
      author_association: 'MEMBER',
      html_url: 'https://code.example/northquay/berth/issues/40',
    });
    expect(names(data.labels)).toEqual(['bug', 'p1', 'regression']);
    expect(data.closed_at).toMatch(seconds);
    expect(Number.isInteger(data.id)).toBe(true);
    expect(data.node_id).toMatch(/^I_kwDO/);
  });

  it('are answered 404 if they do not exist', async () => {
    expect(await errorOf(world.client().issues.get(on(9_999)))).toEqual(notFound);
    expect(await errorOf(world.client().issues.get({ ...on(40), repo: 'none' }))).toEqual(notFound);
    const text = { ...repository, issue_number: 'forty' as unknown as number };
    expect(await errorOf(world.client().issues.get(text))).toEqual(notFound);
  });

  it('are opened with the next number of their repository', async () => {
    const { status, data, headers } = await world.client().issues.create({
      ...repository,
      title: 'Gate code is missing from the reminder',
      body: 'See SUP-2401.',
      labels: ['Bug', 'area: gates'],
      assignees: ['priyaraman'],
    });
    expect(status).toBe(201);
    expect(headers.location).toBe(data.url);
    expect(data).toMatchObject({
      number: 159,
      state: 'open',
      state_reason: null,
      user: { login: 'quay-triage' },
      assignee: { login: 'priyaraman' },
      comments: 0,
      closed_at: null,
      closed_by: null,
    });
    expect(names(data.labels)).toEqual(['area: gates', 'bug']);
    expect(data.created_at).toMatch(seconds);
    const made = await world.client().issues.getLabel({ ...repository, name: 'area: gates' });
    expect(made.data).toMatchObject({ color: 'ededed', default: false, description: null });
    const elsewhere = await world
      .client()
      .issues.create({ ...repository, repo: 'handbook', title: 'A' });
    expect(elsewhere.data.number).toBe(23);
    expect(elsewhere.data.id).toBe(data.id + 1);
  });

  it('are refused without a title, or with an assignee who is a stranger', async () => {
    expect(await errorOf(world.client().issues.create({ ...repository, title: ' ' }))).toEqual(
      invalid({ resource: 'Issue', field: 'title', code: 'missing_field' }),
    );
    const strange = { ...repository, title: 'A', labels: ['new'], assignees: ['nemo'] };
    expect(await errorOf(world.client().issues.create(strange))).toEqual(
      invalid({ value: 'nemo', resource: 'Issue', field: 'assignees', code: 'invalid' }),
    );
    expect(world.rows('issues', { title: 'A' })).toEqual([]);
    expect(world.rows('labels', { name: 'new' })).toEqual([]);
  });

  it('are refused if values in the body have the wrong type', async () => {
    const refused = async (body: object) => {
      const answer = await fetch(`${world.url}/repos/northquay/berth/issues`, {
        method: 'POST',
        headers: { authorization: `token ${world.token}` },
        body: JSON.stringify(body),
      });
      return [answer.status, ((await answer.json()) as { message: string }).message];
    };
    const expected = [422, 'Validation Failed'];
    expect(await refused({ title: true })).toEqual(expected);
    expect(await refused({ title: 'x'.repeat(257) })).toEqual(expected);
    expect(await refused({ title: 'A', body: 5 })).toEqual(expected);
    expect(await refused({ title: 'A', body: 'x'.repeat(65_537) })).toEqual(expected);
    expect(await refused({ title: 'A', labels: 'bug' })).toEqual(expected);
    expect(await refused({ title: 'A', labels: [{ name: 5 }] })).toEqual(expected);
    expect(await refused({ title: 'A', labels: ['x'.repeat(51)] })).toEqual(expected);
    expect(await refused({ title: 'A', assignees: [{}] })).toEqual(expected);
    expect(await refused([])).toEqual([400, 'Body should be a JSON object']);
    expect(world.rows('issues', { title: 'A' })).toEqual([]);
  });

  it('can get another title, body, labels and assignees', async () => {
    const { data } = await world.client().issues.update({
      ...on(139),
      title: 'Reminders go out an hour early in winter',
      body: null as unknown as string,
      labels: ['regression'],
      assignees: ['sam-okafor', 'priyaraman'],
    });
    expect(data).toMatchObject({ title: 'Reminders go out an hour early in winter', body: null });
    expect(names(data.labels)).toEqual(['regression']);
    expect(data.assignees?.map(({ login }) => login)).toEqual(['sam-okafor', 'priyaraman']);
    expect(data.updated_at > '2025-11-17').toBe(true);
    expect(data.state).toBe('open');
  });

  it('are closed and reopened, and show user, time and reason', async () => {
    const closed = await world.client().issues.update({
      ...on(157),
      state: 'closed',
      state_reason: 'not_planned',
    });
    expect(closed.data).toMatchObject({
      state: 'closed',
      state_reason: 'not_planned',
      closed_by: { login: 'quay-triage' },
    });
    expect(closed.data.closed_at).toMatch(seconds);
    const opened = await world.client().issues.update({ ...on(157), state: 'open' });
    expect(opened.data).toMatchObject({
      state: 'open',
      state_reason: 'reopened',
      closed_at: null,
      closed_by: null,
    });
    const completed = await world.client().issues.update({ ...on(157), state: 'closed' });
    expect(completed.data.state_reason).toBe('completed');
    const again = await world.client().issues.update({
      ...on(157),
      state: 'closed',
      state_reason: 'not_planned',
    });
    expect(again.data.state_reason).toBe('not_planned');
    expect(again.data.closed_at).toBe(completed.data.closed_at);
  });

  it('cannot be given an unknown state or reason', async () => {
    const wrong = { ...on(157), state: 'done' as 'closed' };
    expect(await errorOf(world.client().issues.update(wrong))).toEqual(
      invalid({ resource: 'Issue', field: 'state', code: 'invalid' }),
    );
    const reason = { ...on(157), state: 'closed' as const, state_reason: 'boring' as 'completed' };
    expect(await errorOf(world.client().issues.update(reason))).toEqual(
      invalid({ resource: 'Issue', field: 'state_reason', code: 'invalid' }),
    );
    expect(world.rows('issues', { repo: 'berth', number: 157 })[0]).toMatchObject({
      state: 'open',
    });
  });

  it('can be locked and unlocked', async () => {
    const locked = await world.client().issues.lock({ ...on(149), lock_reason: 'too heated' });
    expect(locked.status).toBe(204);
    expect((await world.client().issues.get(on(149))).data).toMatchObject({
      locked: true,
      active_lock_reason: 'too heated',
    });
    expect((await world.client().issues.unlock(on(149))).status).toBe(204);
    expect((await world.client().issues.get(on(149))).data).toMatchObject({
      locked: false,
      active_lock_reason: null,
    });
    const reason = { ...on(149), lock_reason: 'boring' as 'spam' };
    expect(await errorOf(world.client().issues.lock(reason))).toEqual(
      invalid({ resource: 'Issue', field: 'lock_reason', code: 'invalid' }),
    );
    expect(await errorOf(world.client().issues.lock(on(9_999)))).toEqual(notFound);
  });
});
