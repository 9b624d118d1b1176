/** Tests pull requests of the code host, through the vendor's client. */
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
  seconds,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const branchOf = async (name: string) =>
  (await world.client().repos.getBranch({ ...repository, branch: name })).data;

/** Creates a branch at the tip of another branch. */
const branchOff = async (name: string, from: string): Promise<void> => {
  const { commit } = await branchOf(from);
  const ref = `refs/heads/${name}`;
  await world.client().git.createRef({ ...repository, ref, sha: commit.sha });
};

describe('lists of pull requests', () => {
  it('contain open ones, newest first', async () => {
    const { data } = await world.client().pulls.list(repository);
    expect(numbers(data)).toEqual([156, 155, 153, 150, 142]);
    expect(data[0]).toMatchObject({
      state: 'open',
      draft: false,
      user: { login: 'sam-okafor' },
      head: { label: 'northquay:postgres-18', ref: 'postgres-18', repo: { name: 'berth' } },
      base: { ref: 'main' },
      merged_at: null,
    });
    const closed = await world.client().pulls.list({ ...repository, state: 'closed' });
    expect(numbers(closed.data)).toEqual([148, 137, 126, 123, 111]);
  });

  it('can be filtered by head and base, and sorted', async () => {
    const asked = { ...repository, state: 'all' as const };
    const list = async (query: object) =>
      numbers((await world.client().pulls.list({ ...asked, ...query })).data);
    expect(await list({ head: 'northquay:occupancy-nights' })).toEqual([150]);
    expect(await list({ head: 'mikkelh:occupancy-nights' })).toEqual([]);
    expect(await list({ base: 'next' })).toEqual([]);
    expect((await list({ sort: 'updated', direction: 'desc' }))[0]).toBe(156);
    expect((await list({ sort: 'popularity', direction: 'desc' })).slice(0, 2).sort()).toEqual([
      137, 150,
    ]);
    expect((await list({ sort: 'long-running' }))[0]).toBe(111);
  });

  it('contain pull requests that are also issues, which are marked as pull requests', async () => {
    const { data } = await world.client().issues.get(on(150));
    expect(data.pull_request).toMatchObject({
      url: `${world.url}/repos/northquay/berth/pulls/150`,
      merged_at: null,
    });
    const issue = await world.client().issues.get(on(139));
    expect(issue.data.pull_request).toBeUndefined();
    expect(await errorOf(world.client().pulls.get(pull(139)))).toEqual(notFound);
  });
});

describe('a pull request', () => {
  it('reports its size, its commits and its files', async () => {
    const { data } = await world.client().pulls.get(pull(150));
    expect(data).toMatchObject({
      title: 'Count nights in the occupancy report',
      commits: 2,
      changed_files: 2,
      additions: 71,
      deletions: 12,
      mergeable: true,
      mergeable_state: 'clean',
      merged: false,
      comments: 1,
      review_comments: 1,
      milestone: { title: '2.8' },
    });
    expect(names(data.labels)).toEqual(['bug']);
    const commits = await world.client().pulls.listCommits(pull(150));
    expect(commits.data.map(({ commit }) => commit.message)).toEqual([
      'Count nights and not days',
      'Count a stay that ends before breakfast',
    ]);
    expect(commits.data.at(-1)?.sha).toBe(data.head.sha);
    const files = await world.client().pulls.listFiles(pull(150));
    expect(files.data.map(({ filename, changes }) => [filename, changes])).toEqual([
      ['server/reports/occupancy.test.ts', 57],
      ['server/reports/occupancy.ts', 26],
    ]);
  });

  it('reports what prevents its merge', async () => {
    const state = async (number: number) => {
      const { data } = await world.client().pulls.get(pull(number));
      return [data.mergeable, data.mergeable_state];
    };
    expect(await state(142)).toEqual([true, 'draft']);
    expect(await state(153)).toEqual([true, 'blocked']);
    expect(await state(155)).toEqual([true, 'blocked']);
    expect(await state(156)).toEqual([false, 'dirty']);
    expect(await state(148)).toEqual([null, 'unknown']);
  });

  it('can be opened from a branch that is ahead of the base', async () => {
    await branchOff('nights-for-all', 'occupancy-nights');
    const asked = { ...repository, title: 'Nights for all', head: 'nights-for-all', base: 'main' };
    const { status, data, headers } = await world
      .client()
      .pulls.create({ ...asked, body: 'Like #150', draft: true });
    expect(status).toBe(201);
    expect(headers.location).toBe(data.url);
    expect(data).toMatchObject({ number: 159, draft: true, commits: 2, changed_files: 2 });
    expect(data.created_at).toMatch(seconds);
    expect((await world.client().issues.get(on(159))).data.title).toBe('Nights for all');
    expect(await errorOf(world.client().pulls.create(asked))).toEqual(
      invalid({
        resource: 'PullRequest',
        code: 'custom',
        message: 'A pull request already exists for northquay:nights-for-all.',
      }),
    );
  });

  it('is refused if its branch has nothing to merge', async () => {
    await branchOff('nothing-new', 'main');
    const asked = { ...repository, title: 'A', head: 'nothing-new', base: 'main' };
    expect(await errorOf(world.client().pulls.create(asked))).toEqual(
      invalid({
        resource: 'PullRequest',
        code: 'custom',
        message: 'No commits between main and nothing-new',
      }),
    );
    expect(await errorOf(world.client().pulls.create({ ...asked, head: 'none' }))).toEqual(
      invalid({ resource: 'PullRequest', field: 'head', code: 'invalid' }),
    );
    const { body } = await world.ask('POST', '/repos/northquay/berth/pulls', { title: 'A' });
    expect(body.errors).toEqual([
      { resource: 'PullRequest', field: 'head', code: 'missing_field' },
    ]);
  });

  it('is changed, closed and reopened', async () => {
    const renamed = await world.client().pulls.update({ ...pull(155), title: 'Danish: Plads' });
    expect(renamed.data.title).toBe('Danish: Plads');
    const closed = await world.client().pulls.update({ ...pull(155), state: 'closed' });
    expect(closed.data).toMatchObject({ state: 'closed', merged: false });
    const opened = await world.client().pulls.update({ ...pull(155), state: 'open' });
    expect(opened.data).toMatchObject({ state: 'open', closed_at: null });
    const merged = world.client().pulls.update({ ...pull(148), state: 'open' });
    expect(await errorOf(merged)).toEqual(
      invalid({ resource: 'PullRequest', field: 'state', code: 'invalid' }),
    );
    // A pull request has the labels, assignees and milestone of its issue.
    await world.client().issues.update({ ...on(155), milestone: 4, labels: ['enhancement'] });
    const { data } = await world.client().pulls.get(pull(155));
    expect([data.milestone?.title, names(data.labels)]).toEqual(['2.9', ['enhancement']]);
  });
});

describe('merging', () => {
  it('moves the base branch, and closes the pull request and the issues that it fixes', async () => {
    expect((await errorOf(world.client().pulls.checkIfMerged(pull(150)))).status).toBe(404);
    const { data } = await world.client().pulls.merge({ ...pull(150), merge_method: 'squash' });
    expect(data).toMatchObject({ merged: true, message: 'Pull Request successfully merged' });
    expect((await world.client().pulls.checkIfMerged(pull(150))).status).toBe(204);
    const merged = await world.client().pulls.get(pull(150));
    expect(merged.data).toMatchObject({
      state: 'closed',
      merged: true,
      merged_by: { login: 'quay-triage' },
      merge_commit_sha: data.sha,
    });
    const main = await branchOf('main');
    expect(main.commit).toMatchObject({
      sha: data.sha,
      commit: { message: 'Count nights in the occupancy report (#150)' },
    });
    expect(main.commit.parents).toHaveLength(1);
    const fixed = await world.client().issues.get(on(141));
    expect(fixed.data).toMatchObject({ state: 'closed', state_reason: 'completed' });
    const events = await world.client().issues.listEvents({ ...on(141), per_page: 100 });
    expect(events.data.at(-1)).toMatchObject({ event: 'closed', commit_id: data.sha });
    expect(await errorOf(world.client().pulls.merge(pull(150)))).toEqual(
      refused(405, 'Pull Request is not mergeable'),
    );
  });

  it('is refused while a requirement of the branch is not met', async () => {
    const why = async (number: number, more: object = {}) =>
      (await errorOf(world.client().pulls.merge({ ...pull(number), ...more }))) as {
        status: number;
        data: { message: string };
      };
    expect(await why(142)).toEqual(refused(405, 'Pull Request is still a draft'));
    expect(await why(156)).toEqual(refused(405, 'Pull Request is not mergeable'));
    expect(await why(155)).toEqual(
      refused(405, 'At least 1 approving review is required by reviewers with write access.'),
    );
    expect((await why(153)).status).toBe(405);
    const moved = 'Head branch was modified. Review and try the merge again.';
    expect(await why(150, { sha: '0'.repeat(40) })).toEqual(refused(409, moved));
    await world.client().repos.update({ ...repository, allow_rebase_merge: false });
    expect(await why(150, { merge_method: 'rebase' })).toEqual(
      refused(405, 'Rebase merges are not allowed on this repository.'),
    );
    expect(world.rows('pulls', { merged_by: 'quay-triage' })).toEqual([]);
  });

  it('creates a commit with two parents and the given message', async () => {
    const words = { commit_title: 'Nights', commit_message: 'Not days.' };
    const { data } = await world.client().pulls.merge({ ...pull(150), ...words });
    const commit = await world.client().repos.getCommit({ ...repository, ref: data.sha });
    expect(commit.data.parents).toHaveLength(2);
    expect(commit.data.commit.message).toBe('Nights\n\nNot days.');
    expect(commit.data.stats).toEqual({ total: 83, additions: 71, deletions: 12 });
  });

  it('deletes the branch if the repository is configured to', async () => {
    await world.client().repos.update({ ...repository, delete_branch_on_merge: true });
    await world.client().pulls.merge(pull(150));
    expect((await errorOf(branchOf('occupancy-nights'))).status).toBe(404);
  });
});

describe('branches', () => {
  it('are listed and read', async () => {
    const { data } = await world.client().repos.listBranches(repository);
    expect(data.map(({ name }) => name)).toContain('occupancy-nights');
    const guarded = await world.client().repos.listBranches({ ...repository, protected: true });
    expect(guarded.data.map(({ name }) => name)).toEqual(['main']);
    expect(await branchOf('main')).toMatchObject({ name: 'main', protected: true });
    expect(await errorOf(branchOf('none'))).toEqual(refused(404, 'Branch not found'));
  });

  it('can have slashes in their names, which clients send unescaped', async () => {
    await branchOff('feat/nights/all', 'occupancy-nights');
    const { sha } = (await branchOf('occupancy-nights')).commit;
    const at = async (path: string) =>
      (await world.ask('GET', `/repos/northquay/berth/${path}`)).body;
    expect(await at('branches/feat/nights/all')).toMatchObject({ name: 'feat/nights/all' });
    expect(await at('commits/feat/nights/all')).toMatchObject({ sha });
    expect(await at('git/ref/heads/feat/nights/all')).toMatchObject({ object: { sha } });
    expect(await at('git/matching-refs/heads/feat/nights')).toMatchObject([{ object: { sha } }]);
    expect(await at('commits/feat/nights/all/pulls')).toMatchObject([{ number: 150 }]);
    const path = '/repos/northquay/berth/git/refs/heads/feat/nights/all';
    expect((await world.ask('DELETE', path)).response.status).toBe(204);
    expect(await errorOf(branchOf('feat/nights/all'))).toEqual(refused(404, 'Branch not found'));
  });

  it('have links between pages that do not repeat the path’s arguments in the query', async () => {
    await branchOff('feat/nights', 'occupancy-nights');
    const made = { ...repository, title: 'Nights', head: 'feat/nights', base: 'main' };
    await world.client().pulls.create(made);
    const path = '/repos/northquay/berth/commits/feat/nights/pulls?per_page=1';
    const link = (await world.ask('GET', path)).response.headers.get('link') ?? '';
    const next = new URL(/<([^>]+)>; rel="next"/.exec(link)?.[1] ?? '');
    expect([...next.searchParams.keys()].sort()).toEqual(['after', 'page', 'per_page']);
  });

  it('can be created and deleted as refs', async () => {
    await branchOff('feat/lights', 'main');
    const ref = await world.client().git.getRef({ ...repository, ref: 'heads/feat/lights' });
    expect(ref.data.object.sha).toBe((await branchOf('main')).commit.sha);
    expect(await errorOf(branchOff('feat/lights', 'main'))).toEqual(
      refused(422, 'Reference already exists'),
    );
    await world.client().git.deleteRef({ ...repository, ref: 'heads/feat/lights' });
    const { response } = await world.ask(
      'DELETE',
      '/repos/northquay/berth/git/refs/heads/postgres-18',
    );
    expect(response.status).toBe(204);
    // Deleting a branch closes its pull request.
    expect((await world.client().pulls.get(pull(156))).data.state).toBe('closed');
    const main = world.client().git.deleteRef({ ...repository, ref: 'heads/main' });
    expect((await errorOf(main)).status).toBe(422);
  });

  it('have a list of their commits, newest first', async () => {
    const { data } = await world.client().repos.listCommits({ ...repository, per_page: 2 });
    expect(data.map(({ commit }) => commit.message.split('\n')[0])).toEqual([
      'Show the build on the status page (#148)',
      'Release 2.7',
    ]);
    const octokit = world.octokit();
    const all = await octokit.paginate(octokit.rest.repos.listCommits, {
      ...repository,
      per_page: 2,
    });
    expect(all).toHaveLength(7);
  });
});

describe('requested reviewers', () => {
  it('can be added, listed and removed', async () => {
    const asked = await world
      .client()
      .pulls.requestReviewers({ ...pull(153), reviewers: ['jonas-eide', 'sam-okafor'] });
    expect(asked.status).toBe(201);
    const listed = await world.client().pulls.listRequestedReviewers(pull(153));
    expect(listed.data.users.map(({ login }) => login)).toEqual(['jonas-eide', 'sam-okafor']);
    const left = await world
      .client()
      .pulls.removeRequestedReviewers({ ...pull(153), reviewers: ['jonas-eide'] });
    expect(left.data.requested_reviewers?.map(({ login }) => login)).toEqual(['sam-okafor']);
  });

  it('cannot be the author or a stranger', async () => {
    const ask = (login: string) =>
      errorOf(world.client().pulls.requestReviewers({ ...pull(153), reviewers: [login] }));
    expect(await ask('tobias-wendt')).toEqual(
      refused(422, 'Review cannot be requested from pull request author.'),
    );
    expect(await ask('mikkelh')).toMatchObject({ status: 422 });
    expect(await ask('nemo')).toMatchObject({ status: 422 });
  });
});
