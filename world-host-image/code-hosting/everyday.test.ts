/** Tests small requests that users of the vendor send every day: for possible assignees, commits and pull requests. */
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  invalid,
  names,
  notFound,
  numbers,
  on,
  pull,
  refused,
  repository,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

describe('addresses', () => {
  it('in answers lead to the session, and never to an unknown host', async () => {
    const octokit = world.octokit();
    const { data, headers } = await octokit.rest.issues.create({ ...repository, title: 'A' });
    const { data: comment } = await octokit.rest.issues.createComment({ ...on(157), body: 'B' });
    const { data: onPull } = await octokit.rest.pulls.get(pull(150));
    expect(headers.location).toBe(data.url);
    const followed = [
      ...[data.url, data.repository_url, data.comments_url, data.events_url, data.user?.url],
      ...[
        comment.url,
        comment.issue_url,
        onPull.issue_url,
        onPull.commits_url,
        onPull.base.repo.url,
      ],
    ];
    for (const url of followed) {
      expect([url, (await octokit.request(`GET ${url}`)).status]).toEqual([url, 200]);
    }
    expect(JSON.stringify([data, comment, onPull])).not.toContain('api.code.example');
  });

  it('in a comment are stored as the vendor’s addresses', async () => {
    const { data } = await world.client().issues.get(on(139));
    const body = `The same as ${data.url}.`;
    const comment = await world.client().issues.createComment({ ...on(157), body });
    expect(comment.data.body).toBe(body);
    expect(world.rows('comments', { id: comment.data.id })).toMatchObject([
      { body: 'The same as https://api.code.example/repos/northquay/berth/issues/139.' },
    ]);
  });
});

describe('assignees', () => {
  it('are checked one by one, for a repository and for an issue', async () => {
    const { issues } = world.client();
    const status = async (assignee: string) =>
      (await issues.checkUserCanBeAssigned({ ...repository, assignee })).status;
    expect(await status('sam-okafor')).toBe(204);
    expect(await status('SAM-Okafor')).toBe(204);
    expect(await errorOf(status('mikkelh'))).toEqual(notFound);
    const onIssue = (number: number, assignee: string) =>
      issues.checkUserCanBeAssignedToIssue({ ...on(number), assignee });
    expect((await onIssue(139, 'sam-okafor')).status).toBe(204);
    expect(await errorOf(onIssue(139, 'nemo'))).toEqual(notFound);
    expect(await errorOf(onIssue(9_999, 'sam-okafor'))).toEqual(notFound);
  });
});

describe('issues of several repositories', () => {
  it('are listed for an organization, or for all repositories that the viewer works on', async () => {
    const { issues } = world.client();
    const all = { filter: 'all', state: 'all', per_page: 100 } as const;
    const reposOf = (rows: readonly { repository?: { full_name: string } }[]) =>
      [...new Set(rows.map((row) => row.repository?.full_name))].sort();
    const company = ['northquay/berth', 'northquay/handbook', 'northquay/tide-feed'];
    const org = await issues.listForOrg({ org: 'NorthQuay', ...all });
    expect(reposOf(org.data)).toEqual(company);
    expect(reposOf((await issues.listForAuthenticatedUser(all)).data)).toEqual(company);
    expect(reposOf((await issues.list(all)).data)).toContain('mikkelh/marstal-tides');
    expect(await errorOf(issues.listForOrg({ org: 'mikkelh' }))).toEqual(notFound);
  });

  it('can be filtered by a milestone’s number given as text', async () => {
    const { data } = await world.client().issues.update({ ...on(139), milestone: '1' });
    expect(data.milestone?.number).toBe(1);
    expect(world.rows('issues', { number: 139, repo: 'berth' })[0]?.milestone).toBe(1);
  });
});

describe('commits', () => {
  it('are listed by author, by time and by path', async () => {
    const { repos } = world.client();
    const list = async (query: object) =>
      (await repos.listCommits({ ...repository, ...query })).data;
    const all = await list({});
    const logins = new Set((await list({ author: 'Sam-Okafor' })).map((row) => row.author?.login));
    expect([...logins]).toEqual(['sam-okafor']);
    const email = all[0]?.commit.author?.email ?? '';
    expect((await list({ committer: email })).map((row) => row.author?.login)).toContain(
      all[0]?.author?.login,
    );
    expect(await list({ author: 'nemo' })).toEqual([]);
    const date = all[2]?.commit.author?.date ?? '';
    expect(await list({ since: date })).toEqual(all.slice(0, 3));
    expect(await list({ until: date })).toEqual(all.slice(2));
    expect((await list({ path: 'CHANGELOG.md' })).map(({ commit }) => commit.message)).toContain(
      'Release 2.6',
    );
    expect(await list({ path: 'CHANGELOG' })).toEqual([]);
    const bad = { resource: 'Commit', field: 'until', code: 'invalid' };
    expect(await errorOf(list({ until: 'soon' }))).toEqual(invalid(bad));
  });

  it('have a list of the pull requests that they belong to', async () => {
    const { repos, pulls } = world.client();
    const { data } = await pulls.get(pull(150));
    const ofCommit = async (commit_sha: string) =>
      numbers(
        (await repos.listPullRequestsAssociatedWithCommit({ ...repository, commit_sha })).data,
      );
    expect(await ofCommit(data.head.sha)).toEqual([150]);
    const merged = (await pulls.get(pull(148))).data;
    expect(await ofCommit(merged.merge_commit_sha ?? '')).toEqual([148]);
    expect(await errorOf(ofCommit('f'.repeat(40)))).toEqual(
      refused(422, `No commit found for SHA: ${'f'.repeat(40)}`),
    );
  });

  it('that were merged belong to the base branch from then on', async () => {
    const { repos, pulls } = world.client();
    const own = (await pulls.listCommits(pull(150))).data.map(({ sha }) => sha);
    const { data } = await pulls.merge({ ...pull(150), merge_method: 'merge' });
    const shas = (await repos.listCommits(repository)).data.map(({ sha }) => sha);
    expect(shas[0]).toBe(data.sha);
    expect(new Set(shas).size).toBe(shas.length);
    for (const [index, sha] of own.entries()) {
      expect(shas).toContain(sha);
      expect(shas.slice(0, shas.indexOf(sha))).not.toContain(own[index - 1]);
    }
    const again = { ...repository, title: 'Again', head: 'occupancy-nights', base: 'main' };
    expect(await errorOf(pulls.create(again))).toMatchObject({
      status: 422,
      data: { errors: [{ message: 'No commits between main and occupancy-nights' }] },
    });
  });

  it('cannot be listed in an empty repository, which answers with a conflict', async () => {
    await world.client().repos.createForAuthenticatedUser({ name: 'bare' });
    expect(
      await errorOf(world.client().repos.listCommits({ owner: 'quay-triage', repo: 'bare' })),
    ).toEqual(refused(409, 'Git Repository is empty.'));
  });
});

describe('refs', () => {
  it('are listed by prefix', async () => {
    const { git } = world.client();
    const matching = async (ref: string) =>
      (await git.listMatchingRefs({ ...repository, ref })).data.map((row) => row.ref);
    expect(await matching('heads/post')).toEqual(['refs/heads/postgres-18']);
    expect(await matching('heads/')).toContain('refs/heads/main');
    expect(await matching('tags/v2.6')).toEqual(['refs/tags/v2.6.0']);
    const { body } = await world.ask('GET', '/repos/northquay/berth/git/matching-refs/heads/ma');
    expect(body).toMatchObject([{ ref: 'refs/heads/main' }]);
  });
});

describe('repositories', () => {
  it('start with the vendor’s default labels', async () => {
    await world.client().repos.createInOrg({ org: 'northquay', name: 'ferry' });
    const ferry = { owner: 'northquay', repo: 'ferry' };
    const { data } = await world.client().issues.listLabelsForRepo(ferry);
    expect(names(data)).toEqual(
      [
        'bug',
        'documentation',
        'duplicate',
        'enhancement',
        'good first issue',
        'help wanted',
      ].concat(['invalid', 'question', 'wontfix']),
    );
    expect(data.every((label) => label.default)).toBe(true);
    const taken = { resource: 'Label', field: 'name', code: 'already_exists' };
    expect(await errorOf(world.client().issues.createLabel({ ...ferry, name: 'bug' }))).toEqual(
      invalid(taken),
    );
    expect((await world.client().repos.delete(ferry)).status).toBe(204);
  });

  it('are counted in their owner’s public repositories only while they are public', async () => {
    const { repos, orgs } = world.client();
    const count = async () => (await orgs.get({ org: 'northquay' })).data.public_repos;
    const before = await count();
    await repos.update({ ...repository, visibility: 'private' });
    expect(await count()).toBe(before - 1);
    const bad = { resource: 'Repository', field: 'visibility', code: 'invalid' };
    const secret = repos.update({ ...repository, visibility: 'secret' as never });
    expect(await errorOf(secret)).toEqual(invalid(bad));
    expect((await repos.get(repository)).data.visibility).toBe('private');
    await repos.update({ ...repository, private: false });
    expect(await count()).toBe(before);
  });

  it('can be read but not written while they are archived, and written again afterwards', async () => {
    const { repos, issues } = world.client();
    await repos.update({ ...repository, archived: true });
    const archived = refused(403, 'Repository was archived so is read-only.');
    expect(await errorOf(issues.create({ ...repository, title: 'Late' }))).toEqual(archived);
    expect(await errorOf(issues.createComment({ ...on(139), body: 'Late' }))).toEqual(archived);
    expect(await errorOf(repos.update({ ...repository, description: 'x' }))).toEqual(archived);
    await expect(world.tool('add_labels', { ...on(139), labels: ['bug'] })).rejects.toThrow(
      'read-only',
    );
    expect((await issues.get(on(139))).data.number).toBe(139);
    await repos.update({ ...repository, archived: false });
    expect((await issues.create({ ...repository, title: 'In time' })).status).toBe(201);
  });
});

it('a merged pull request cannot be reopened through its issue', async () => {
  const { issues, pulls } = world.client();
  const bad = { resource: 'PullRequest', field: 'state', code: 'invalid' };
  const opened = issues.update({ ...on(148), state: 'open' });
  expect(await errorOf(opened)).toEqual(invalid(bad));
  expect((await pulls.get(pull(148))).data.state).toBe('closed');
});

it('a search by an invalid time is refused', async () => {
  const search = async (q: string) =>
    (await world.client().search.issuesAndPullRequests({ q })).data.total_count;
  for (const time of ['yesterday', '>2025-13-', '2025-01-01..soon']) {
    const bound = {
      message: `"${time}" is not a recognized date/time format. Please provide an ISO 8601 date/time value, such as YYYY-MM-DD.`,
      resource: 'Search',
      field: 'q',
      code: 'invalid',
    };
    expect(await errorOf(search(`is:issue created:${time}`))).toEqual(invalid(bound));
  }
  for (const time of ['2025', '>=2025-06', '*..2025-06-01', '<2025-06-01T10:00:00Z'])
    expect(await search(`created:${time}`)).toBeGreaterThan(0);
});

it('a search accepts times with other time zones', async () => {
  const [issue] = world.rows('issues', { number: 139, repo: 'berth' });
  const at = new Date(String(issue?.created_at));
  const found = async (minutes: number) => {
    const there = new Date(at.getTime() + (120 + minutes) * 60_000).toISOString().slice(0, 19);
    const q = encodeURIComponent(`repo:northquay/berth created:>=${there}+02:00`);
    const { body } = await world.ask('GET', `/search/issues?per_page=100&q=${q}`);
    return numbers(body.items as { number: number }[]).includes(139);
  };
  expect([await found(0), await found(1)]).toEqual([true, false]);
});
