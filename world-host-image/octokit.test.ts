/**
 * The template `code-hosting` as a vendor's client meets it: `@octokit/rest`, as it comes from the
 * registry, against the world's own routes and handlers.
 */
import { Octokit } from '@octokit/rest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ServedWorld, serveWorld } from '#test/support/serve-world.ts';
import { templateTree } from '#test/support/worlds.ts';

const repository = { owner: 'northquay', repo: 'berth' };
const on = (number: number) => ({ ...repository, issue_number: number });
const seconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

let world: ServedWorld;

const clientWith = (auth: string | undefined) =>
  new Octokit({
    baseUrl: world.url,
    ...(auth === undefined ? {} : { auth }),
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  }).rest;

const client = () => clientWith(world.token);

/** The status and the body of the error that a call ends with. */
const errorOf = async (call: Promise<unknown>): Promise<{ status: number; data: unknown }> => {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: { status: number; response: { data: unknown } }) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error('the call was answered, and should not have been');
  return { status: outcome.error.status, data: outcome.error.response.data };
};

const documentation_url = 'https://docs.code.example/rest';
const notFound = {
  status: 404,
  data: { message: 'Not Found', documentation_url, status: '404' },
};
const invalid = (...errors: object[]) => ({
  status: 422,
  data: { message: 'Validation Failed', errors, documentation_url, status: '422' },
});

const names = (labels: readonly (string | { name?: string })[]) =>
  labels.map((label) => (typeof label === 'string' ? label : label.name));

beforeAll(async () => {
  world = await serveWorld(templateTree('code-hosting'));
});
beforeEach(() => world.reset());
afterAll(() => world?.stop());

describe('credentials', () => {
  it('refuses a request without a token in the vendor shape', async () => {
    const expected = {
      status: 401,
      data: { message: 'Bad credentials', documentation_url, status: '401' },
    };
    expect(await errorOf(clientWith(undefined).repos.get(repository))).toEqual(expected);
    expect(await errorOf(clientWith('wrong').repos.get(repository))).toEqual(expected);
  });
});

describe('users and repositories', () => {
  it('tells who the token belongs to', async () => {
    const { data } = await client().users.getAuthenticated();
    expect(data).toMatchObject({
      login: 'quay-triage',
      id: 50216644,
      two_factor_authentication: true,
    });
  });

  it('answers a user', async () => {
    const { data } = await client().users.getByUsername({ username: 'mikkelh' });
    expect(data).toMatchObject({ login: 'mikkelh', name: 'Mikkel Holst', type: 'User' });
    expect(await errorOf(client().users.getByUsername({ username: 'nobody' }))).toEqual(notFound);
  });

  it('answers a repository with its owner and counts', async () => {
    const { data } = await client().repos.get(repository);
    expect(data).toMatchObject({
      full_name: 'northquay/berth',
      owner: { login: 'northquay', type: 'Organization' },
      open_issues_count: 23,
      default_branch: 'main',
      visibility: 'public',
      issues_url: 'https://api.code.example/repos/northquay/berth/issues{/number}',
    });
    expect(data.node_id).toMatch(/^R_kgDO/);
    expect(await errorOf(client().repos.get({ owner: 'northquay', repo: 'none' }))).toEqual(
      notFound,
    );
  });

  it('lists the repositories of an organization and of a user', async () => {
    const organization = await client().repos.listForOrg({ org: 'northquay' });
    expect(organization.data.map(({ name }) => name)).toEqual(['berth', 'handbook', 'tide-feed']);
    const user = await client().repos.listForUser({ username: 'mikkelh' });
    expect(user.data).toEqual([]);
    expect(await errorOf(client().repos.listForOrg({ org: 'mikkelh' }))).toEqual(notFound);
  });
});

describe('lists of issues', () => {
  it('lists open issues, newest first', async () => {
    const { data } = await client().issues.listForRepo(repository);
    expect(data).toHaveLength(23);
    expect(data.every(({ state }) => state === 'open')).toBe(true);
    expect(data.slice(0, 3).map(({ number }) => number)).toEqual([158, 157, 154]);
  });

  it('lists closed issues and all of them', async () => {
    const closed = await client().issues.listForRepo({ ...repository, state: 'closed' });
    expect(closed.data).toHaveLength(25);
    const all = await client().issues.listForRepo({ ...repository, state: 'all', per_page: 100 });
    expect(all.data).toHaveLength(48);
  });

  it('filters by labels, all of which an issue must carry', async () => {
    const found = await client().issues.listForRepo({ ...repository, labels: 'Bug,area: emails' });
    expect(found.data.map(({ number }) => number)).toEqual([149, 139, 131]);
    const none = await client().issues.listForRepo({ ...repository, labels: 'no such label' });
    expect(none.data).toEqual([]);
  });

  it('filters by creator, assignee and time', async () => {
    const by = await client().issues.listForRepo({ ...repository, creator: 'mikkelh' });
    expect(by.data.every(({ user }) => user?.login === 'mikkelh')).toBe(true);
    const mine = await client().issues.listForRepo({ ...repository, assignee: 'sam-okafor' });
    expect(mine.data.map(({ number }) => number)).toEqual([147]);
    const free = await client().issues.listForRepo({ ...repository, assignee: 'none' });
    const taken = await client().issues.listForRepo({ ...repository, assignee: '*' });
    expect(free.data.length + taken.data.length).toBe(23);
    const late = await client().issues.listForRepo({
      ...repository,
      since: '2025-11-17T00:00:00Z',
    });
    expect(late.data.map(({ number }) => number)).toEqual([158, 157]);
  });

  it('sorts as asked', async () => {
    const busy = await client().issues.listForRepo({
      ...repository,
      state: 'all',
      sort: 'comments',
    });
    const counts = busy.data.map(({ comments }) => comments);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    const oldest = await client().issues.listForRepo({ ...repository, direction: 'asc' });
    expect(oldest.data[0]?.number).toBe(47);
  });

  it('pages, and links the pages for the client to follow', async () => {
    const asked = { ...repository, state: 'all' as const, per_page: 20 };
    const second = await client().issues.listForRepo({ ...asked, page: 2 });
    const page = (number: number, rel: string) =>
      `<${world.url}/repos/northquay/berth/issues?state=all&per_page=20&page=${number}>; rel="${rel}"`;
    expect(second.headers.link).toBe(
      [page(1, 'prev'), page(3, 'next'), page(3, 'last'), page(1, 'first')].join(', '),
    );
    const octokit = new Octokit({ baseUrl: world.url, auth: world.token });
    const all = await octokit.paginate(octokit.rest.issues.listForRepo, asked);
    expect(new Set(all.map(({ number }) => number)).size).toBe(48);
    const single = await client().issues.listForRepo(repository);
    expect(single.headers.link).toBeUndefined();
  });

  it('overlooks page numbers that make no sense, and gives a hundred at most', async () => {
    const asked = { ...repository, state: 'all' as const };
    const odd = { ...asked, per_page: 'many' as unknown as number, page: 0 };
    expect((await client().issues.listForRepo(odd)).data).toHaveLength(30);
    const huge = await client().issues.listForRepo({ ...asked, per_page: 1_000 });
    expect(huge.data).toHaveLength(48);
    const beyond = await client().issues.listForRepo({ ...asked, page: 99 });
    expect(beyond.data).toEqual([]);
  });

  it('refuses a state that there is not', async () => {
    const asked = { ...repository, state: 'solved' as 'open' };
    expect(await errorOf(client().issues.listForRepo(asked))).toEqual(
      invalid({ resource: 'Issue', field: 'state', code: 'invalid' }),
    );
  });
});

describe('issues', () => {
  it('answers an issue with whole users and labels', async () => {
    const { data } = await client().issues.get(on(40));
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

  it('does not find what is not there', async () => {
    expect(await errorOf(client().issues.get(on(9_999)))).toEqual(notFound);
    expect(await errorOf(client().issues.get({ ...on(40), repo: 'none' }))).toEqual(notFound);
    const text = { ...repository, issue_number: 'forty' as unknown as number };
    expect(await errorOf(client().issues.get(text))).toEqual(notFound);
  });

  it('opens an issue with the next number of its repository', async () => {
    const { status, data, headers } = await client().issues.create({
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
    const made = await client().issues.getLabel({ ...repository, name: 'area: gates' });
    expect(made.data).toMatchObject({ color: 'ededed', default: false, description: null });
    const elsewhere = await client().issues.create({ ...repository, repo: 'handbook', title: 'A' });
    expect(elsewhere.data.number).toBe(23);
    expect(elsewhere.data.id).toBe(data.id + 1);
  });

  it('refuses an issue without a title, and a stranger as assignee', async () => {
    expect(await errorOf(client().issues.create({ ...repository, title: ' ' }))).toEqual(
      invalid({ resource: 'Issue', field: 'title', code: 'missing_field' }),
    );
    const strange = { ...repository, title: 'A', labels: ['new'], assignees: ['nobody'] };
    expect(await errorOf(client().issues.create(strange))).toEqual(
      invalid({ value: 'nobody', resource: 'Issue', field: 'assignees', code: 'invalid' }),
    );
    expect(world.rows('issues', { title: 'A' })).toEqual([]);
    expect(world.rows('labels', { name: 'new' })).toEqual([]);
  });

  it('refuses values of other kinds than a body may have', async () => {
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

  it('changes title, body, labels and assignees', async () => {
    const { data } = await client().issues.update({
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

  it('closes and opens again, with who, when and why', async () => {
    const closed = await client().issues.update({
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
    const opened = await client().issues.update({ ...on(157), state: 'open' });
    expect(opened.data).toMatchObject({
      state: 'open',
      state_reason: 'reopened',
      closed_at: null,
      closed_by: null,
    });
    const completed = await client().issues.update({ ...on(157), state: 'closed' });
    expect(completed.data.state_reason).toBe('completed');
    const again = await client().issues.update({
      ...on(157),
      state: 'closed',
      state_reason: 'not_planned',
    });
    expect(again.data.state_reason).toBe('not_planned');
    expect(again.data.closed_at).toBe(completed.data.closed_at);
  });

  it('refuses a state or a reason that there is not', async () => {
    const wrong = { ...on(157), state: 'done' as 'closed' };
    expect(await errorOf(client().issues.update(wrong))).toEqual(
      invalid({ resource: 'Issue', field: 'state', code: 'invalid' }),
    );
    const reason = { ...on(157), state: 'closed' as const, state_reason: 'boring' as 'completed' };
    expect(await errorOf(client().issues.update(reason))).toEqual(
      invalid({ resource: 'Issue', field: 'state_reason', code: 'invalid' }),
    );
    expect(world.rows('issues', { repo: 'berth', number: 157 })[0]).toMatchObject({
      state: 'open',
    });
  });

  it('locks and unlocks a conversation', async () => {
    const locked = await client().issues.lock({ ...on(149), lock_reason: 'too heated' });
    expect(locked.status).toBe(204);
    expect((await client().issues.get(on(149))).data).toMatchObject({
      locked: true,
      active_lock_reason: 'too heated',
    });
    expect((await client().issues.unlock(on(149))).status).toBe(204);
    expect((await client().issues.get(on(149))).data).toMatchObject({
      locked: false,
      active_lock_reason: null,
    });
    const reason = { ...on(149), lock_reason: 'boring' as 'spam' };
    expect(await errorOf(client().issues.lock(reason))).toEqual(invalid());
    expect(await errorOf(client().issues.lock(on(9_999)))).toEqual(notFound);
  });
});

describe('labels of an issue', () => {
  it('adds labels whatever the case of their letters, and makes those that are missing', async () => {
    const { data } = await client().issues.addLabels({
      ...on(157),
      labels: ['DUPLICATE', 'duplicate', 'area: gates'],
    });
    expect(names(data)).toEqual(['area: emails', 'area: gates', 'duplicate']);
    expect(Object.keys(data[0] ?? {}).sort()).toEqual(
      ['color', 'default', 'description', 'id', 'name', 'node_id', 'url'].sort(),
    );
    const listed = await client().issues.listLabelsOnIssue(on(157));
    expect(listed.data).toEqual(data);
  });

  it('takes a label away', async () => {
    const { data } = await client().issues.removeLabel({ ...on(139), name: 'area: emails' });
    expect(names(data)).toEqual(['bug']);
    expect(await errorOf(client().issues.removeLabel({ ...on(139), name: 'wontfix' }))).toEqual({
      status: 404,
      data: { message: 'Label does not exist', documentation_url, status: '404' },
    });
  });

  it('replaces and removes all labels', async () => {
    const set = await client().issues.setLabels({ ...on(139), labels: ['bug', 'security'] });
    expect(names(set.data)).toEqual(['bug', 'security']);
    expect((await client().issues.removeAllLabels(on(139))).status).toBe(204);
    expect((await client().issues.get(on(139))).data.labels).toEqual([]);
  });
});

describe('labels of a repository', () => {
  it('lists and gets them', async () => {
    const { data } = await client().issues.listLabelsForRepo(repository);
    expect(data).toHaveLength(15);
    const label = await client().issues.getLabel({ ...repository, name: 'good first issue' });
    expect(label.data).toMatchObject({
      color: '7057ff',
      default: true,
      url: 'https://api.code.example/repos/northquay/berth/labels/good%20first%20issue',
    });
    expect(await errorOf(client().issues.getLabel({ ...repository, name: 'none' }))).toEqual(
      notFound,
    );
  });

  it('makes a label, once', async () => {
    const asked = {
      ...repository,
      name: 'area: map',
      color: 'C5DEF5',
      description: 'The berth map',
    };
    const { status, data } = await client().issues.createLabel(asked);
    expect(status).toBe(201);
    expect(data).toMatchObject({
      name: 'area: map',
      color: 'c5def5',
      default: false,
      description: 'The berth map',
      url: 'https://api.code.example/repos/northquay/berth/labels/area%3A%20map',
    });
    expect(data.node_id).toMatch(/^LA_kwDO/);
    expect(await errorOf(client().issues.createLabel({ ...asked, name: 'Area: Map' }))).toEqual(
      invalid({ resource: 'Label', field: 'name', code: 'already_exists' }),
    );
  });

  it('refuses a label without a name, of no colour, or with too much to say', async () => {
    expect(await errorOf(client().issues.createLabel({ ...repository, name: '' }))).toEqual(
      invalid({ resource: 'Label', field: 'name', code: 'missing_field' }),
    );
    const red = { ...repository, name: 'red', color: 'red' };
    expect(await errorOf(client().issues.createLabel(red))).toEqual(
      invalid({ resource: 'Label', field: 'color', code: 'invalid' }),
    );
    const long = { ...repository, name: 'long', description: 'x'.repeat(101) };
    expect(await errorOf(client().issues.createLabel(long))).toMatchObject({
      status: 422,
      data: { errors: [{ resource: 'Label', field: 'description', code: 'custom' }] },
    });
  });

  it('renames a label wherever it is carried', async () => {
    const { data } = await client().issues.updateLabel({
      ...repository,
      name: 'area: emails',
      new_name: 'area: mail',
      color: '00ff00',
    });
    expect(data).toMatchObject({ name: 'area: mail', color: '00ff00' });
    const carried = await client().issues.listForRepo({ ...repository, labels: 'area: mail' });
    expect(carried.data.map(({ number }) => number)).toEqual([157, 149, 139, 131, 70]);
    const clash = { ...repository, name: 'bug', new_name: 'security' };
    expect(await errorOf(client().issues.updateLabel(clash))).toEqual(
      invalid({ resource: 'Label', field: 'name', code: 'already_exists' }),
    );
    const sameName = { ...repository, name: 'bug', new_name: 'Bug' };
    expect((await client().issues.updateLabel(sameName)).data.name).toBe('Bug');
  });

  it('deletes a label and takes it from the issues that carry it', async () => {
    expect((await client().issues.deleteLabel({ ...repository, name: 'bug' })).status).toBe(204);
    expect(names((await client().issues.get(on(139))).data.labels)).toEqual(['area: emails']);
    expect(world.rows('labels', { name: 'bug', repo: 'tide-feed' })).toHaveLength(1);
    const gone = { ...repository, name: 'bug' };
    expect(await errorOf(client().issues.deleteLabel(gone))).toEqual(notFound);
  });
});

describe('comments', () => {
  it('lists them, oldest first', async () => {
    const { data } = await client().issues.listComments(on(40));
    expect(data.map(({ user }) => user?.login)).toEqual([
      'sam-okafor',
      'priyaraman',
      'priyaraman',
      'jonas-eide',
    ]);
    const page = await client().issues.listComments({ ...on(40), per_page: 3, page: 2 });
    expect(page.data.map(({ id }) => id)).toEqual([data[3]?.id]);
    const since = await client().issues.listComments({ ...on(40), since: '2025-03-31T12:30:00Z' });
    expect(since.data).toHaveLength(1);
  });

  it('writes a comment, counts it and moves the issue on', async () => {
    const { status, data } = await client().issues.createComment({
      ...on(157),
      body: 'Duplicate of #139',
    });
    expect(status).toBe(201);
    expect(data).toMatchObject({
      body: 'Duplicate of #139',
      user: { login: 'quay-triage' },
      author_association: 'MEMBER',
      issue_url: 'https://api.code.example/repos/northquay/berth/issues/157',
      html_url: `https://code.example/northquay/berth/issues/157#issuecomment-${data.id}`,
    });
    expect(data.created_at).toMatch(seconds);
    const issue = await client().issues.get(on(157));
    expect(issue.data.comments).toBe(2);
    expect(issue.data.updated_at).toBe(data.created_at);
  });

  it('gets, changes and deletes a comment', async () => {
    const made = await client().issues.createComment({ ...on(157), body: 'Hello' });
    const comment = { ...repository, comment_id: made.data.id };
    expect((await client().issues.getComment(comment)).data).toEqual(made.data);
    const changed = await client().issues.updateComment({ ...comment, body: 'Hello, Claire' });
    expect(changed.data).toMatchObject({ id: made.data.id, body: 'Hello, Claire' });
    expect((await client().issues.deleteComment(comment)).status).toBe(204);
    expect(await errorOf(client().issues.getComment(comment))).toEqual(notFound);
    expect(await errorOf(client().issues.deleteComment(comment))).toEqual(notFound);
  });

  it('refuses an empty comment, and one on an issue that is not there', async () => {
    expect(await errorOf(client().issues.createComment({ ...on(157), body: ' ' }))).toEqual(
      invalid({ resource: 'IssueComment', field: 'body', code: 'missing_field' }),
    );
    expect(await errorOf(client().issues.createComment({ ...on(9_999), body: 'x' }))).toEqual(
      notFound,
    );
  });

  it('keeps track of the issues that a comment names', async () => {
    const body =
      'As in #139, northquay/tide-feed#48 and https://code.example/northquay/handbook/issues/2; ' +
      'not #157 itself, #9999, a#12, or other/repo#1.';
    const { data } = await client().issues.createComment({ ...on(157), body });
    const named = () =>
      world
        .rows('cross_references', { comment_id: data.id })
        .map(({ repo, issue_number }) => `${repo}#${issue_number}`);
    expect(named()).toEqual(['berth#139', 'handbook#2', 'tide-feed#48']);
    const comment = { ...repository, comment_id: data.id };
    await client().issues.updateComment({ ...comment, body: 'As in #131.' });
    expect(named()).toEqual(['berth#131']);
    await client().issues.deleteComment(comment);
    expect(named()).toEqual([]);
  });
});

describe('autolinks', () => {
  it('are listed, made, got and deleted', async () => {
    const { status, data } = await client().repos.createAutolink({
      ...repository,
      key_prefix: 'INC-',
      url_template: 'https://status.northquay.example/<num>',
    });
    expect(status).toBe(201);
    expect(data).toMatchObject({ id: 58, key_prefix: 'INC-', is_alphanumeric: true });
    expect(data.updated_at).toMatch(seconds);
    const listed = await client().repos.listAutolinks(repository);
    expect(listed.data.map(({ key_prefix }) => key_prefix)).toEqual(['SUP-', 'INC-']);
    const autolink = { ...repository, autolink_id: data.id };
    expect((await client().repos.getAutolink(autolink)).data).toEqual(data);
    expect((await client().repos.deleteAutolink(autolink)).status).toBe(204);
    expect(await errorOf(client().repos.getAutolink(autolink))).toEqual(notFound);
  });

  it('refuses a prefix twice and a template without its place', async () => {
    const taken = { ...repository, key_prefix: 'SUP-', url_template: 'https://x.example/<num>' };
    expect(await errorOf(client().repos.createAutolink(taken))).toEqual(invalid());
    const plain = { ...repository, key_prefix: 'X-', url_template: 'https://x.example/' };
    expect(await errorOf(client().repos.createAutolink(plain))).toEqual(invalid());
  });
});
